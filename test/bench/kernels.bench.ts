import { problemOf, type Backend, type Device, type PreparedCase } from '@core/backend'
import { paramText, type Dtype, type Mode, type Params } from '@core/case'
import { ALL_OPS, getOp } from '@core/ops/registry'
import { geometricMean, median } from '@core/stats/descriptive'
import { faultsOf, makeCase, SEED } from '../conformance/faults'
import { conformanceParams } from '../conformance/sizes'
import type { Bench, Figure, Outcome } from './bench'
import { caseOn } from './proof/bed'
import { sidesOf, type Side } from './sides'

/**
 * Checks and times the kernels of a device, through the addon (or the Python backend) as the product does:
 *   devices=cuda:0      whose; also python:cuda:0
 *   part=check|time     both where absent
 *   sizes=few|all|large what is checked; few: for compute-sanitizer
 *   ops=add,sum         only these
 *   before=FILE         an addon of another build, timed in turns with this one
 *   beside=python:cuda:0/torch   device and implementation timed on the same cases
 */
const kernels: Bench = async ({ args, say }) => {
  const parts = args['part'] === undefined ? ['check', 'time'] : [args['part']]
  const sides = await sidesOf(args, { devices: 'cuda:0' })
  const [{ backend, device }] = sides as [Side]
  const ops = args['ops']?.split(',')
  const only = (op: string) => ops?.includes(op) ?? true
  const outcome: Outcome & { rows: Row[] } = { figures: [], rows: [], devices: [device] }
  if (parts.includes('check')) await check(outcome, backend, device, args['sizes'] ?? 'large', only, say)
  if (parts.includes('time')) await time(outcome, sides, only, say)
  return outcome
}
export default kernels

type Row = Record<string, string | number | boolean | undefined>
type Say = (text: string) => void

/** Work of a check per case, see MeasureSettings.verifyWork. */
const WORK = 2e7

/** Every operation, implementation and dtype over the sizes of the conformance tests. A kernel that is wrong on purpose must fail. */
async function check(outcome: Outcome & { rows: Row[] }, backend: Backend, device: Device, sizes: string, only: (op: string) => boolean, say: Say): Promise<void> {
  const extents = sizes === 'few' ? (['few'] as const) : sizes === 'all' ? (['all'] as const) : (['all', 'large'] as const)
  let cases = 0
  let failed = 0
  let missed = 0
  for (const impl of device.impls.filter(({ available }) => available.ok)) {
    const wrongOnPurpose = impl.id.startsWith('red-')
    for (const op of ALL_OPS.filter(({ id }) => only(id))) {
      for (const dtype of impl.kernels[op.id] ?? []) {
        const faults: string[] = []
        const params = extents.flatMap((extent) => conformanceParams(op, extent))
        for (const one of params) {
          const c = makeCase(device, impl, op, one, dtype, device.threads.at(-1))
          const found = await faultsOf(backend, op, c, WORK).catch((thrown: unknown) => [thrown instanceof Error ? thrown.message : String(thrown)])
          // A cheat that only shows on other inputs is caught by measureCase: test/conformance/red-team.test.ts.
          faults.push(...found.map((fault) => `${paramText(one)}: ${fault}`))
        }
        cases += params.length
        if (wrongOnPurpose) missed += faults.length === 0 && impl.id !== 'red-stale' ? 1 : 0
        else failed += faults.length
        say(`${impl.id} ${op.id} ${dtype}: ${params.length} cases, ${faults.length} faults${wrongOnPurpose ? ' (wrong on purpose)' : ''}`)
        if (!wrongOnPurpose) for (const fault of faults.slice(0, 5)) say(`  ${fault}`)
        outcome.rows.push({ part: 'check', impl: impl.id, op: op.id, dtype, cases: params.length, faults: faults.length, first: faults[0] })
      }
    }
  }
  outcome.figures.push({ name: 'cases checked', value: cases, unit: '', published: true }, { name: 'faults found', value: failed, unit: '', aim: 0, better: 'less' })
  if (device.impls.some(({ id }) => id.startsWith('red-'))) outcome.figures.push({ name: 'kernels wrong on purpose that passed', value: missed, unit: '', aim: 0, better: 'less' })
}

/** The nine operations that the first kernels were tuned for, at the sizes that the README shows. */
function timedCases(): { op: string; dtype: Dtype; params: Params }[] {
  const Mi = 2 ** 20
  const vectors = (op: string, dtype: Dtype, sizes: readonly number[]) => sizes.map((n) => ({ op, dtype, params: { n } }))
  const matrices = (op: string, dtype: Dtype, sizes: readonly (readonly [number, number])[], more: Params = {}) =>
    sizes.map(([first, second]) => ({ op, dtype, params: { ...(op === 'layer_norm' ? { tokens: first, dim: second } : { rows: first, cols: second }), ...more } }))
  const cubes = (dtype: Dtype, sizes: readonly number[], more: Params = {}) => sizes.map((side) => ({ op: 'matmul', dtype, params: { m: side, n: side, k: side, ...more } }))
  const long = [2 ** 16, 2 ** 18, Mi, 4 * Mi, 16 * Mi, 64 * Mi]
  return [
    ...['copy', 'add', 'mul', 'exp', 'gelu'].flatMap((op) => [...vectors(op, 'f32', long), ...vectors(op, 'bf16', [64 * Mi])]),
    ...matrices('sum', 'f32', [[256, 256], [1024, 1024], [4096, 4096], [8192, 8192]], { axis: 'all' }),
    ...matrices('sum', 'bf16', [[8192, 8192]], { axis: 'all' }),
    ...(['f32', 'bf16'] as const).flatMap((dtype) => (['last', 'first'] as const).flatMap((axis) => matrices('sum', dtype, [[4096, 4096], [16384, 4096]], { axis }))),
    ...['softmax', 'layer_norm'].flatMap((op) => [
      ...matrices(op, 'bf16', [[1024, 1024], [4096, 4096], [16384, 4096], [4096, 32768], [1024, 131072], [1, 4 * Mi]]),
      ...matrices(op, 'f32', [[4096, 4096], [16384, 4096], [65536, 512]]),
    ]),
    ...cubes('f32', [512, 1024, 4096]),
    ...(['tf32', 'bf16', 'f16'] as const).flatMap((dtype) => [...cubes(dtype, [512, 1024, 2048, 4096, 8192]), ...cubes(dtype, [4096], { transB: true })]),
  ]
}

const MODES: readonly { mode: Mode; count: number; inner: number }[] = [{ mode: 'cold', count: 60, inner: 1 }, { mode: 'hot', count: 12, inner: 20 }, { mode: 'graph', count: 12, inner: 20 }]
/** Rounds of samples; the sides take turns, the other way round every second time. */
const ROUNDS = 4

async function time(outcome: Outcome & { rows: Row[] }, against: readonly Side[], only: (op: string) => boolean, say: Say): Promise<void> {
  say(`${'case'.padEnd(44)} ${against.map(({ name }) => `${name} cold`.padStart(14)).join(' ')}   us, then hot and graph`)
  for (const { op, dtype, params } of timedCases().filter((one) => only(one.op))) {
    const opened: { name: string; modes: readonly Mode[]; prepared: PreparedCase; ns: Map<Mode, number[]> }[] = []
    const label = `${op} ${dtype} ${paramText(params)}`
    try {
      for (const { name, backend, device, impl } of against) {
        const c = caseOn(device, op, params, 'hot', { dtype })
        if (!c) continue
        const prepared = await backend.open(problemOf(getOp(op), impl === undefined ? c : { ...c, impl }, SEED))
        opened.push({ name, modes: device.modes, prepared, ns: new Map(MODES.map(({ mode }) => [mode, []])) })
        await prepared.run()
        await prepared.sample({ mode: 'hot', count: 5, inner: 5 })
      }
      for (let round = 0; round < ROUNDS; round++) {
        for (const { modes, prepared, ns } of round % 2 === 0 ? opened : [...opened].reverse()) {
          for (const { mode, count, inner } of MODES) if (modes.includes(mode)) ns.get(mode)!.push(...(await prepared.sample({ mode, count: Math.ceil(count / ROUNDS), inner })).samplesNs)
        }
      }
    } catch (thrown) {
      say(`${label}: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
      outcome.rows.push({ part: 'time', op, dtype, params: paramText(params), failure: thrown instanceof Error ? thrown.message : String(thrown) })
      continue
    } finally {
      for (const { prepared } of opened) await prepared.dispose()
    }
    const figure = ({ ns }: (typeof opened)[number], mode: Mode) => median(ns.get(mode)!) ?? NaN
    const operation = getOp(op)
    const whole = operation.params.parse(params)
    const row: Row = { part: 'time', op, dtype, params: paramText(params), bytes: operation.bytes(whole, dtype), flops: operation.flops(whole) }
    for (const side of opened) for (const { mode } of MODES) if (side.ns.get(mode)!.length > 0) row[`${side.name} ${mode} ns`] = Number(figure(side, mode).toFixed(1))
    outcome.rows.push(row)
    say(`${label.padEnd(44)} ${MODES.map(({ mode }) => opened.map((side) => (side.ns.get(mode)!.length > 0 ? (figure(side, mode) / 1000).toFixed(2) : '-').padStart(9)).join(' ')).join('  |')}`)
  }
  outcome.figures.push(...against.slice(1).flatMap(({ name }) => comparedWith(outcome.rows, name)))
}

/** Times of this build over those of another side: geometric mean and the worst case, by mode. */
function comparedWith(rows: readonly Row[], name: string): Figure[] {
  return MODES.flatMap(({ mode }) => {
    const ratios = rows.flatMap((row) => {
      const [now, other] = [row[`now ${mode} ns`], row[`${name} ${mode} ns`]]
      return typeof now === 'number' && typeof other === 'number' ? [now / other] : []
    })
    if (ratios.length === 0) return []
    return [
      { name: `${mode}, ${ratios.length} cases: time now over ${name}, geometric mean`, value: geometricMean(ratios)!, unit: 'x', published: true },
      { name: `${mode}: the same, worst case`, value: Math.max(...ratios), unit: 'x', published: true },
    ]
  })
}
