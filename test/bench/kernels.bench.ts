import { CaseError, problemOf, type Backend, type Device, type Impl, type PreparedCase } from '@core/backend'
import { paramText, type Dtype, type Mode, type Params } from '@core/case'
import { ALL_OPS, getOp } from '@core/ops/registry'
import type { Op } from '@core/ops/types'
import { geometricMean, median } from '@core/stats/descriptive'
import { findSuite, suitePlan } from '@core/suites'
import { planSweep } from '@core/sweep/plan'
import { faultsOf, makeCase, SEED } from '../conformance/faults'
import { conformanceParams, Draw, DRAW_SEED, oddParams } from '../conformance/sizes'
import type { Bench, Figure, Outcome } from './bench'
import { inShare } from './fuzz/list'
import { caseOn } from './proof/bed'
import { Journal } from './journal'
import { sidesOf, type Side } from './sides'

/**
 * Checks and times the kernels of a device, through the addon (or the Python backend) as the product does:
 *   devices=cuda:0      whose; also python:cuda:0
 *   part=check|time|open  check and time where absent; open: opens what is timed, so that compilers fill their caches
 *   cases=first|families|SUITE  what is timed: the operations that the first kernels were tuned for, some of every family, or those of a suite
 *   sizes=few|all|large|odd  what is checked; few: for compute-sanitizer; odd: shapes drawn from OPSCOPE_CONFORMANCE_SEED, and one of the few
 *   draws=N             odd shapes for each operation, implementation and dtype; few=no: without one of the few
 *   ops=add,sum         only these
 *   impls=triton,jax    only these are checked
 *   share=K/N           only every N-th operation from number K: one of N processes
 *   seconds=N           stops checking after so long; the figures say what was checked
 *   log=FILE            keeps each row as soon as it is there; what an earlier call has kept is not checked or timed again
 *   modes=cold,hot      only these are timed
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
  const log = new Journal<Row>(args['log'])
  if (parts.includes('check')) await check(outcome, backend, device, checkedOf(args, only), log, say)
  const timed = timedOf(args['cases'], sides).filter((one) => only(one.op))
  if (parts.includes('open')) await openAll(outcome, sides, timed.filter(inShare(args['share'])), say)
  if (parts.includes('time')) await time(outcome, sides, timed, MODES.filter(({ mode }) => args['modes']?.split(',').includes(mode) ?? true), log, say)
  return outcome
}
export default kernels

type Row = Record<string, string | number | boolean | undefined>
type Say = (text: string) => void

/** Work of a check per case, see MeasureSettings.verifyWork. */
const WORK = 2e7

/** What is checked: sizes, and which part of it. */
interface Checked {
  sizes: string
  draws: number
  few: boolean
  impls: readonly string[] | undefined
  only: (op: string) => boolean
  until: number
}

function checkedOf(args: Readonly<Record<string, string>>, only: (op: string) => boolean): Checked {
  const mine = new Set(ALL_OPS.filter(inShare(args['share'])).map(({ id }) => id))
  const until = performance.now() + Number(args['seconds'] ?? Infinity) * 1000
  return { sizes: args['sizes'] ?? 'large', draws: Number(args['draws'] ?? 4), few: args['few'] !== 'no', impls: args['impls']?.split(','), only: (op) => only(op) && mine.has(op), until }
}

/** Parameters that one implementation of an op is checked with. */
function paramsOf(op: Op, impl: Impl, dtype: Dtype, { sizes, draws, few: alsoFew }: Checked): Params[] {
  if (sizes !== 'odd') return (sizes === 'few' ? (['few'] as const) : sizes === 'all' ? (['all'] as const) : (['all', 'large'] as const)).flatMap((extent) => conformanceParams(op, extent))
  const draw = new Draw(`${impl.id} ${op.id} ${dtype}`)
  const few = alsoFew ? conformanceParams(op, 'few') : []
  return [...Array.from({ length: draws }, () => oddParams(op, draw)).filter((params) => params !== undefined), ...(few.length > 0 ? [draw.one(few)] : [])]
}

/** Every operation, implementation and dtype over the sizes of the conformance tests; our kernels with the same bits in two runs. A kernel that is wrong on purpose must fail. */
async function check(outcome: Outcome & { rows: Row[] }, backend: Backend, device: Device, checked: Checked, log: Journal<Row>, say: Say): Promise<void> {
  let cases = 0
  let failed = 0
  let missed = 0
  let refused = 0
  let left = 0
  if (checked.sizes === 'odd') say(`OPSCOPE_CONFORMANCE_SEED=${DRAW_SEED} repeats the shapes`)
  for (const impl of device.impls.filter(({ id, available }) => available.ok && (checked.impls?.includes(id) ?? true))) {
    const wrongOnPurpose = impl.id.startsWith('red-')
    for (const op of ALL_OPS.filter(({ id }) => checked.only(id))) {
      for (const dtype of impl.kernels[op.id] ?? []) {
        const name = `check ${impl.id} ${op.id} ${dtype} ${checked.sizes} ${DRAW_SEED}`
        const known = log.get(name)
        if (known) {
          cases += Number(known['cases']) - Number(known['refused'] ?? 0)
          refused += Number(known['refused'] ?? 0)
          if (wrongOnPurpose) missed += known['faults'] === 0 && impl.id !== 'red-stale' ? 1 : 0
          else failed += Number(known['faults'])
          outcome.rows.push(known)
          continue
        }
        if (performance.now() > checked.until) {
          left += 1
          continue
        }
        const faults: string[] = []
        const refusals: string[] = []
        const params = paramsOf(op, impl, dtype, checked)
        if (!log.begin(name)) faults.push('an earlier call was ended in it')
        else for (const one of params) {
          const c = makeCase(device, impl, op, one, dtype, device.threads.at(-1))
          try {
            // A cheat that only shows on other inputs is caught by measureCase: test/conformance/red-team.test.ts.
            faults.push(...(await faultsOf(backend, op, c, WORK, device.backend !== 'python')).map((fault) => `${paramText(one)}: ${fault}`))
          } catch (thrown) {
            const words = `${paramText(one)}: ${thrown instanceof Error ? thrown.message : String(thrown)}`
            if (thrown instanceof CaseError && thrown.code === 'unsupported') refusals.push(words)
            else faults.push(words)
          }
        }
        cases += params.length - refusals.length
        refused += refusals.length
        if (wrongOnPurpose) missed += faults.length === 0 && impl.id !== 'red-stale' ? 1 : 0
        else failed += faults.length
        say(`${impl.id} ${op.id} ${dtype}: ${params.length} cases, ${faults.length} faults${wrongOnPurpose ? ' (wrong on purpose)' : ''}${refusals.length > 0 ? `, ${refusals.length} refused` : ''}`)
        if (!wrongOnPurpose) for (const fault of faults.slice(0, 5)) say(`  ${fault}`)
        outcome.rows.push(log.add(name, { part: 'check', impl: impl.id, op: op.id, dtype, cases: params.length, ...(refusals.length > 0 ? { refused: refusals.length, why: refusals[0] } : {}), faults: faults.length, first: faults[0] }))
      }
    }
  }
  outcome.figures.push({ name: 'cases checked', value: cases, unit: '', published: true }, { name: 'faults found', value: failed, unit: '', aim: 0, better: 'less' })
  if (refused > 0) outcome.figures.push({ name: 'cases that a library does not take', value: refused, unit: '' })
  if (checked.sizes === 'odd') outcome.figures.push({ name: 'seed of the shapes', value: DRAW_SEED, unit: '' })
  if (Number.isFinite(checked.until)) outcome.figures.push({ name: 'implementations of an operation and dtype not reached in time', value: left, unit: '', aim: 0, better: 'less' })
  if (device.impls.some(({ id }) => id.startsWith('red-'))) outcome.figures.push({ name: 'kernels wrong on purpose that passed', value: missed, unit: '', aim: 0, better: 'less' })
}

type Timed = { op: string; dtype: Dtype; params: Params }

function timedOf(name = 'first', sides: readonly Side[]): Timed[] {
  if (name === 'families') return familyCases()
  const suite = findSuite(name)
  if (!suite) return timedCases()
  const devices = sides.map(({ device }) => device)
  const cases = planSweep(suitePlan(suite, devices).spec, devices).cases.map(({ op, dtype, params }): Timed => ({ op, dtype, params }))
  return [...new Map(cases.map((one) => [`${one.op} ${one.dtype} ${paramText(one.params)}`, one])).values()]
}

/** Large cases of every family that has kernels in several implementations. */
function familyCases(): Timed[] {
  const both = (op: string, params: Params): Timed[] => (['f32', 'bf16'] as const).map((dtype) => ({ op, dtype, params }))
  const half = (op: string, params: Params): Timed => ({ op, dtype: 'bf16', params })
  const n = 2 ** 24
  const [rows, cols] = [4096, 4096]
  return [
    ...['add', 'exp', 'gelu', 'gelu_backward', 'swiglu', 'dot', 'mse_loss'].flatMap((op) => both(op, op === 'swiglu' ? { tokens: rows, dim: cols } : { n })),
    ...['sum', 'max', 'argmax', 'norm_l2'].flatMap((op) => ['all', 'last', 'first'].flatMap((axis) => (op === 'sum' || axis === 'all' ? both : (o: string, p: Params) => [half(o, p)])(op, { rows, cols, axis }))),
    ...['softmax', 'log_softmax', 'softmax_backward'].flatMap((op) => [...both(op, { rows, cols }), half(op, { rows, cols: 32768 })]),
    ...['layer_norm', 'rms_norm', 'layer_norm_backward', 'rms_norm_backward'].flatMap((op) => [...both(op, { tokens: rows, dim: cols }), half(op, { tokens: 32768, dim: 1024 })]),
    ...['cross_entropy', 'cross_entropy_backward'].flatMap((op) => [...both(op, { tokens: rows, classes: cols }), half(op, { tokens: rows, classes: 32768 })]),
    ...both('group_norm', { batch: 32, channels: 256, height: 56, width: 56, groups: 32 }),
    ...[false, true].map((training) => half('batch_norm', { batch: 32, channels: 256, height: 56, width: 56, training })),
    ...(['f32', 'tf32', 'f16', 'bf16'] as const).map((dtype): Timed => ({ op: 'matmul', dtype, params: { m: cols, n: cols, k: cols } })),
    half('matmul', { m: 1000, n: 1001, k: 1003 }), half('matmul', { m: 512, n: 512, k: 64, batch: 64 }), half('matmul', { m: 16, n: cols, k: cols, transB: true }),
    ...[false, true].map((causal) => half('scaled_dot_product_attention', { batch: 4, heads: 32, kvHeads: causal ? 8 : 32, seqQ: 2048, seqK: 2048, headDim: 128, causal })),
    half('scaled_dot_product_attention', { batch: 16, heads: 12, kvHeads: 12, seqQ: 512, seqK: 512, headDim: 64, causal: false }),
    { op: 'scaled_dot_product_attention', dtype: 'f32', params: { batch: 4, heads: 16, kvHeads: 16, seqQ: 512, seqK: 512, headDim: 64, causal: false } },
  ]
}

/** Opens every case once on each side but the first. */
async function openAll(outcome: Outcome & { rows: Row[] }, [, ...others]: readonly Side[], cases: readonly Timed[], say: Say): Promise<void> {
  let opened = 0
  for (const { op, dtype, params } of cases) {
    for (const { name, backend, device, impl } of others) {
      const c = caseOn(device, op, params, 'hot', { dtype })
      if (!c) continue
      try {
        const prepared = await backend.open(problemOf(getOp(op), impl === undefined ? c : { ...c, impl }, SEED))
        opened += 1
        await prepared.dispose()
      } catch (thrown) {
        say(`${name} ${op} ${dtype} ${paramText(params)}: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
      }
    }
  }
  outcome.figures.push({ name: 'cases opened', value: opened, unit: '' })
}

/** The nine operations that the first kernels were tuned for, at the sizes that the README shows. */
function timedCases(): Timed[] {
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

async function time(outcome: Outcome & { rows: Row[] }, against: readonly Side[], cases: readonly Timed[], timedModes: typeof MODES, log: Journal<Row>, say: Say): Promise<void> {
  say(`${'case'.padEnd(44)} ${against.map(({ name }) => `${name} cold`.padStart(14)).join(' ')}   us, then the other modes`)
  for (const { op, dtype, params } of cases) {
    const opened: { name: string; modes: readonly Mode[]; prepared: PreparedCase; ns: Map<Mode, number[]> }[] = []
    const label = `${op} ${dtype} ${paramText(params)}`
    const known = log.get(`time ${label}`)
    if (known) {
      outcome.rows.push(known)
      continue
    }
    try {
      for (const { name, backend, device, impl } of against) {
        const c = caseOn(device, op, params, 'hot', { dtype })
        if (!c) continue
        const prepared = await backend.open(problemOf(getOp(op), impl === undefined ? c : { ...c, impl }, SEED))
        opened.push({ name, modes: device.modes, prepared, ns: new Map(timedModes.map(({ mode }) => [mode, []])) })
        await prepared.run()
        await prepared.sample({ mode: 'hot', count: 5, inner: 5 })
      }
      for (let round = 0; round < ROUNDS; round++) {
        for (const { modes, prepared, ns } of round % 2 === 0 ? opened : [...opened].reverse()) {
          for (const { mode, count, inner } of timedModes) if (modes.includes(mode)) ns.get(mode)!.push(...(await prepared.sample({ mode, count: Math.ceil(count / ROUNDS), inner })).samplesNs)
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
    for (const side of opened) for (const { mode } of timedModes) if (side.ns.get(mode)!.length > 0) row[`${side.name} ${mode} ns`] = Number(figure(side, mode).toFixed(1))
    outcome.rows.push(log.add(`time ${label}`, row))
    say(`${label.padEnd(44)} ${timedModes.map(({ mode }) => opened.map((side) => (side.ns.get(mode)!.length > 0 ? (figure(side, mode) / 1000).toFixed(2) : '-').padStart(9)).join(' ')).join('  |')}`)
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
