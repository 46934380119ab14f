import { paramText, type BenchmarkCase, type Dtype, type Params } from '@core/case'
import { PRESETS } from '@core/measure/settings'
import { perJoule } from '@core/measure/energy/windows'
import type { Result } from '@core/result'
import type { Bench, Figure, Outcome } from './bench'
import { Journal } from './journal'
import { openSides, takes, type HostSide } from './proof/host-sides'

/** Bound by memory, by arithmetic (16-bit, and f32 for backends without it), and by neither. */
const CASES: readonly { op: string; dtype: Dtype; params: Params }[] = [
  { op: 'copy', dtype: 'f32', params: { n: 2 ** 26 } },
  { op: 'matmul', dtype: 'bf16', params: { m: 4096, n: 4096, k: 4096 } },
  { op: 'matmul', dtype: 'f32', params: { m: 2048, n: 2048, k: 2048 } },
  { op: 'add', dtype: 'f32', params: { n: 2 ** 16 } },
]
const ROUNDS = 2

/**
 * Two measurements of the energy of a call agree, and agree with the integral of sampled power, each through the product's hosts:
 *   sides=cuda:0/kernel,cuda:0/cublaslt,python:cuda:0/torch,webgpu:0/wgsl   implementations that are missing are left out
 *   ops=copy,matmul  dtypes=f32
 *   log=FILE   writes each measurement when it is made; the next run with the same file makes those that are missing
 * The cases are measured in turn, then all of them again.
 */
const energy: Bench = async ({ args, say }) => {
  const sides = await openSides((args['sides'] ?? 'cuda:0/kernel,cuda:0/cublaslt,python:cuda:0/torch,webgpu:0/wgsl').split(','), say)
  const [ops, dtypes] = [args['ops']?.split(','), args['dtypes']?.split(',')]
  const cases = CASES.filter(({ op, dtype }) => (ops?.includes(op) ?? true) && (dtypes?.includes(dtype) ?? true))
  const log = new Journal<Row>(args['log'])
  const rows: Row[] = []
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const side of sides) {
        for (const one of cases.filter((asked) => takes(side, asked))) {
          const label = `${one.op} ${one.dtype} ${paramText(one.params)}, ${side.device.id} ${side.impl}`
          const name = `${label}, round ${round + 1}`
          const known = log.get(name)
          if (!known && !log.begin(name)) continue
          const row = known ?? log.add(name, rowOf(label, round, await measured(side, one)))
          say(`${name}: ${row.joulesPerCall === undefined ? row.status : `${(row.joulesPerCall * 1e3).toPrecision(5)} mJ a call, ${row.watts?.toFixed(0)} W`} ${row.note ?? ''}`)
          rows.push(row)
        }
      }
    }
  } finally {
    for (const side of sides) side.close()
  }
  return { figures: figuresOf(rows), rows, devices: sides.map(({ device }) => device) } satisfies Outcome
}
export default energy

function measured({ device, impl, measure }: HostSide, { op, dtype, params }: (typeof CASES)[number]): Promise<Result> {
  const threads = device.threads.at(-1)
  const c: BenchmarkCase = { op, params, dtype, backend: device.backend, impl, device: device.id, mode: 'hot', ...(threads === undefined ? {} : { threads }) }
  return measure(c, { ...PRESETS.quick, energy: true })
}

/** What is kept of a measurement: times in ns, energies in J, powers in W. */
type Row = {
  case: string
  round: number
  status: Result['status']
  medianNs?: number
  joulesPerCall?: number
  lowJ?: number
  highJ?: number
  sampledJoulesPerCall?: number
  watts?: number
  idleWatts?: number
  seconds?: number
  calls?: number
  note?: string
}

function rowOf(label: string, round: number, result: Result): Row {
  const { status, energy: e, summary } = result
  const note = result.notes?.filter((text) => /energy/i.test(text)).join(' ')
  return { case: label, round, status, ...(summary ? { medianNs: summary.medianNs } : {}), ...(e ? { ...e, ...perJoule({ ...result, energy: e }) } : {}), ...(note ? { note } : {}) }
}

function figuresOf(rows: readonly Row[]): Figure[] {
  return [...Map.groupBy(rows, (row) => row.case)].flatMap(([label, measurements]) => {
    const energies = measurements.flatMap(({ joulesPerCall, sampledJoulesPerCall }) => (joulesPerCall === undefined ? [] : [{ joulesPerCall, sampledJoulesPerCall }]))
    const [first, second] = energies
    if (!first || !second) return []
    const apart = Math.max(...energies.flatMap(({ joulesPerCall, sampledJoulesPerCall: sampled }) => (sampled === undefined ? [] : [Math.abs(sampled / joulesPerCall - 1) * 100])))
    return [
      { name: `${label}: energy of a call`, value: first.joulesPerCall * 1e3, unit: 'mJ', published: true },
      { name: `${label}: two measurements differ by`, value: Math.abs(second.joulesPerCall / first.joulesPerCall - 1) * 100, unit: '%', aim: 2, better: 'less' as const },
      ...(Number.isFinite(apart) ? [{ name: `${label}: counter and sampled power differ by at most`, value: apart, unit: '%', aim: 5, better: 'less' as const }] : []),
    ]
  })
}
