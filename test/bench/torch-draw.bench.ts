import { problemOf, type Impl } from '@core/backend'
import { paramText } from '@core/case'
import { firstSeed, measureCase } from '@core/measure/measure-case'
import { PRESETS } from '@core/measure/settings'
import { getOp, OPS } from '@core/ops/registry'
import { caseOn } from './proof/bed'
import type { Bench } from './bench'
import { drawCases, type Drawn } from './fuzz/draw'
import { Journal } from './journal'
import { sidesOf } from './sides'

/** Operations that scripts/gpu/torch_agreement.py calls by itself. */
const CALLED = ['copy', 'add', 'mul', 'exp', 'gelu', 'sum', 'softmax', 'layer_norm', 'matmul']
/** What the fastest GPU at hand does: cases that must take longer than this in us are drawn. */
const MIN_US = 60
const BYTES_PER_US = 4.3e6
const FLOPS_PER_US: Readonly<Record<string, number>> = { f32: 5e7, tf32: 4e8, f16: 7e8, bf16: 7e8 }

/**
 * Measures PyTorch cold on drawn shapes as the product does, for scripts/gpu/torch_agreement.py to hold against do_bench:
 *   seed=N count=40      which shapes, and how many; all of them take more than 50 us
 *   devices=python:cuda:0
 *   seconds=N            time limit of a case
 *   log=FILE             keeps each row as soon as it is there; what an earlier call with the same seed has kept is not measured again
 */
const torchDraw: Bench = async ({ args, say }) => {
  const [side] = await sidesOf(args, { devices: 'python:cuda:0' })
  const { backend, device } = side!
  const torch = device.impls.find(({ id }) => id === 'torch')
  if (!torch?.available.ok) throw new Error(`${device.id} has no PyTorch`)
  const settings = { ...PRESETS.standard, maxSeconds: Number(args['seconds'] ?? 1), maxWarmupSeconds: 0.3, verifyWork: 1e6 }
  const seed = Number(args['seed'] ?? Math.floor(Math.random() * 2 ** 31))
  say(`seed=${seed} repeats the shapes`)
  const log = new Journal<Measured>(args['log'])
  const rows: Measured[] = []
  for (const { op: id, dtype, params } of longCases(torch, seed, Number(args['count'] ?? 40))) {
    const op = getOp(id)
    const plain = caseOn(device, id, params, 'cold', { dtype })
    if (!plain) throw new Error(`${device.id} has no ${id} in ${dtype}`)
    const name = `${seed} ${id} ${dtype} ${paramText(params)}`
    const known = log.get(name)
    if (known) {
      rows.push(known)
      continue
    }
    const c = { ...plain, impl: 'torch' }
    const filledSeed = firstSeed(settings.seed)
    const prepared = await backend.open(problemOf(op, c, filledSeed))
    try {
      const result = await measureCase({ op, case: c, prepared, settings, resultId: String(rows.length), filledSeed })
      const clocks = [...(result.clocksMhz ?? [])].sort((a, b) => a - b)
      rows.push(log.add(name, { op: id, dtype, params: JSON.stringify(params), status: result.status, medianNs: result.summary?.medianNs, hostCallNs: result.hostCallNs, mhz: clocks[clocks.length >> 1], maxMhz: clocks.at(-1) }))
      say(`${id} ${dtype} ${paramText(params)}: ${((result.summary?.medianNs ?? NaN) / 1000).toFixed(1)} us`)
    } finally {
      await prepared.dispose()
    }
  }
  return { figures: [{ name: 'cases measured', value: rows.filter(({ status }) => status === 'ok').length, unit: `of ${rows.length}` }, { name: 'seed', value: seed, unit: '' }], rows, devices: [device] }
}
export default torchDraw

type Measured = {
  op: string
  dtype: string
  params: string
  status: string
  medianNs: number | undefined
  hostCallNs: number | undefined
  mhz: number | undefined
  maxMhz: number | undefined
}

/** The first `count` of the drawn cases that no GPU finishes within MIN_US. */
function longCases({ kernels }: Impl, seed: number, count: number): Drawn[] {
  const drawable = OPS.filter(({ id }) => CALLED.includes(id)).map((op) => ({ op, dtypes: op.dtypes.filter((dtype) => kernels[op.id]?.includes(dtype)) }))
  return drawCases(seed, 100 * count, drawable, { elements: 2 ** 28, flops: 2 ** 40 }).filter(({ op: id, dtype, params }) => {
    const op = getOp(id)
    const plain = id !== 'matmul' ? (params['broadcast'] ?? 'none') === 'none' && ['all', 'last', 'first'].includes(String(params['axis'] ?? 'all')) : !params['transA'] && !params['transB']
    return plain && (params['batch'] ?? 1) === 1 && (id === 'matmul' ? op.flops(params) / FLOPS_PER_US[dtype]! : op.bytes(params, dtype) / BYTES_PER_US) > MIN_US
  }).slice(0, count)
}
