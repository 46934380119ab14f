import { expect, test } from 'vitest'
import type { BenchmarkCase } from '@core/case'
import { PRESETS, type MeasureSettings } from '@core/measure/settings'
import type { Result } from '@core/result'
import { aCase, aResult, aSpec, planOf, ScriptedKind, scriptedRunner } from '../testing'
import { sweepSource, type Measured, type Step } from './source'

const impls = (n: number, ...names: string[]): BenchmarkCase[] => names.map((impl) => ({ ...aCase(n), impl }))
const ROUNDS: MeasureSettings = { ...PRESETS.quick, rounds: true }
const source = (cases: readonly BenchmarkCase[], settings = ROUNDS) => sweepSource({ cases, settings, repeats: 1, secondsOf: () => 1 })
const ROUNDS_OF_A_PASS = 8

/** Goes through a source; `timeOf` says what a turn takes in ns, undefined that its case fails, 'gone' that its process ends. */
function run({ turns, left }: ReturnType<typeof sweepSource>, timeOf: (c: BenchmarkCase, turn: number) => number | undefined | 'gone') {
  const order: string[] = []
  const stored: Result[] = []
  let step: IteratorResult<Step, void> = turns.next()
  for (let turn = 0; !step.done; turn++) {
    if ('result' in step.value) {
      stored.push(step.value.result)
      step = turns.next([step.value.result])
      continue
    }
    const { case: c, round, rounds } = step.value
    const numbers = rounds ? Array.from({ length: Math.min(rounds.count, ROUNDS_OF_A_PASS) }, (_, i) => rounds.first + i) : undefined
    const measured = [c, ...(rounds?.others ?? [])].map((one): Result => {
      const ns = timeOf(one, turn)
      const failed = typeof ns !== 'number'
      return {
        ...aResult(`${turn} ${one.impl}`, one), wallMs: 5, inner: 10, timer: 'steady-clock', tickNs: 1, ...(failed ? { status: 'crashed' as const } : {}),
        samplesNs: Array.from({ length: numbers ? 4 * numbers.length : 48 }, (_, i) => (failed ? 0 : ns) * (1 + (i % 7) / 5000)), ...(numbers ? { rounds: { group: 0, numbers, firstSamples: numbers.map((_, i) => 4 * i) } } : {}),
      }
    }) as [Result, ...Result[]]
    order.push(measured.map(({ case: { impl, params } }) => `${impl}${params['n']}`).join(' ') + (round || rounds ? '' : ' alone'))
    if (!round && !rounds) stored.push(measured[0])
    const gone = [c, ...(rounds?.others ?? [])].some((one) => timeOf(one, turn) === 'gone')
    step = turns.next(gone ? ([measured[0]] satisfies Measured) : measured)
  }
  return { order, stored, left: [...left()].reduce((sum, { seconds }) => sum + seconds, 0) }
}

test('implementations of one case go through passes together until their speedups are known, and each has one result', () => {
  const { order, stored, left } = run(source(impls(1, 'x', 'y', 'z')), (c, turn) => ({ x: 100, y: 200, z: 50 })[c.impl]! * (1 + turn / 100))
  expect(new Set(order)).toEqual(new Set(['x1 y1 z1']))
  expect(stored.map((result) => [result.case.impl, result.rounds!.ratio!.ratio.toFixed(2)])).toEqual([['x', '1.00'], ['y', '2.00'], ['z', '0.50']])
  expect(stored[1]!.rounds!.firstRounds).toEqual(order.map((_, i) => ROUNDS_OF_A_PASS * i))
  expect(stored[1]!.rounds!.numbers).toEqual(Array.from({ length: ROUNDS_OF_A_PASS * order.length }, (_, i) => i))
  expect(left).toBeCloseTo(0)
})

test('while a group is not settled there is time left, also where its passes took longer than was expected', () => {
  const cases = impls(1, 'x', 'y')
  const { turns, left } = sweepSource({ cases, settings: ROUNDS, repeats: 1, secondsOf: () => 0.02 })
  const seconds: number[] = []
  let step = turns.next()
  for (let turn = 0; !step.done && 'case' in step.value && step.value.rounds; turn++) {
    const numbers = Array.from({ length: ROUNDS_OF_A_PASS }, (_, i) => ROUNDS_OF_A_PASS * turn + i)
    step = turns.next(cases.map((c, i) => ({ ...aResult(`${turn} ${i}`, c), wallMs: 20, samplesNs: numbers.flatMap(() => Array.from({ length: 4 }, () => 100 + 30 * ((turn * 7 + i * 5) % 4))), rounds: { group: 0, numbers, firstSamples: numbers.map((_, at) => 4 * at) } })) as [Result, Result])
    seconds.push([...left()].reduce((sum, one) => sum + one.seconds, 0))
  }
  // After the first pass five more of 40 ms are certain; after the last of all it is known that none comes.
  expect(seconds[0]).toBeCloseTo(0.2)
  expect(seconds.slice(0, -1).every((left) => left >= 0.04 - 1e-9)).toBe(true)
  expect(seconds.length).toBeGreaterThan(6)
  expect(seconds.at(-1)).toBeCloseTo(0)
})

test('short passes count as half of one, so that there may be more of them', () => {
  const passes = (roundsOf: (pass: number) => number) => {
    const cases = impls(1, 'x', 'y')
    const { turns } = source(cases)
    let step = turns.next()
    let pass = 0
    for (; !step.done && 'case' in step.value && step.value.rounds; pass++) {
      const { first } = step.value.rounds
      const numbers = Array.from({ length: roundsOf(pass) }, (_, i) => first + i)
      step = turns.next(cases.map((c, i) => ({ ...aResult(`${pass} ${i}`, c), wallMs: 1, samplesNs: numbers.map(() => 100 + 50 * ((pass * 7 + i * 5) % 4)), rounds: { group: 0, numbers, firstSamples: numbers.map((_, at) => at) } })) as [Result, Result])
    }
    return pass
  }
  expect(passes(() => 8)).toBe(20)
  expect(passes((pass) => (pass === 0 ? 8 : 4))).toBe(39)
  expect(passes((pass) => (pass % 2 === 0 ? 8 : 6))).toBe(20)
})

test('passes of several groups are spread over each other', () => {
  const { order, stored } = run(source([...impls(1, 'x', 'y'), ...impls(2, 'x', 'y')]), () => 100)
  expect(order.slice(0, 4)).toEqual(['x1 y1', 'x2 y2', 'x1 y1', 'x2 y2'])
  expect(stored).toHaveLength(4)
})

test('an implementation in a process of its own goes there and back with the others, a block for each round', () => {
  const torch = { ...aCase(1), backend: 'python', impl: 'torch', device: 'python:cpu' }
  const { order, stored } = run(source([...impls(1, 'x', 'y'), torch]), (c) => (c.impl === 'torch' ? 300 : 100))
  const wholeOf = (step: IteratorResult<Step, void>) => (!step.done && 'case' in step.value ? step.value.rounds?.whole : undefined)
  expect([wholeOf(source([...impls(1, 'x', 'y'), torch]).turns.next()), wholeOf(source(impls(1, 'x', 'y')).turns.next())]).toEqual([false, true])
  expect(order.slice(0, 4)).toEqual(['x1 y1', 'torch1', 'torch1', 'x1 y1'])
  expect(stored.map((result) => result.rounds!.ratio!.ratio.toFixed(2))).toEqual(['1.00', '1.00', '3.00'])
})

test('an implementation that fails has its failure for a result, and the others go on', () => {
  const { stored } = run(source(impls(1, 'x', 'y', 'z')), (c, turn) => (c.impl === 'x' && turn > 2 ? undefined : 100))
  expect(stored.map(({ case: c, status }) => [c.impl, status])).toEqual([['x', 'crashed'], ['y', 'ok'], ['z', 'ok']])
  expect(stored[1]!.rounds!.ratio).toEqual({ ratio: 1, low: 1, high: 1 })
})

test('where the process of a pass ends, each of its implementations is measured by itself, so that the one to blame is known', () => {
  const { order, stored } = run(source(impls(1, 'x', 'y')), (c, turn) => (turn === 2 && c.impl === 'y' ? 'gone' : 100))
  expect(order).toEqual(['x1 y1', 'x1 y1', 'x1 y1', 'x1 alone', 'y1 alone'])
  expect(stored.map(({ case: c, rounds }) => [c.impl, rounds])).toEqual([['x', undefined], ['y', undefined]])
})

test('without the choice, a case without a rival, a GPU, and rules that promise a number of samples are measured one by one', () => {
  expect(run(source(impls(1, 'x', 'y'), PRESETS.quick), () => 1).order).toEqual(['x1 alone', 'y1 alone'])
  expect(run(source(impls(1, 'x')), () => 1).order).toEqual(['x1 alone'])
  const gpu = impls(1, 'x', 'y').map((c) => ({ ...c, backend: 'cuda', device: 'cuda:0' }))
  expect(run(source(gpu), () => 1).order).toEqual(['x1 alone', 'y1 alone'])
  expect(run(source(impls(1, 'x', 'y'), { ...ROUNDS, rule: { id: 'fixed-count', count: 9 } }), () => 1).order).toEqual(['x1 alone', 'y1 alone'])
})

test('a run that is stopped keeps what its rounds have shown so far, and the rest can be resumed', async () => {
  const host = new ScriptedKind('cpu')
  const { runner, history, ended } = scriptedRunner([host], planOf([...impls(1, 'x', 'y'), ...impls(2, 'x', 'y')]))
  host.onCase = () => host.measured.length === 1 && runner.stop()
  const end = ended()
  await runner.start({ ...aSpec(['cpu']), measure: { rounds: true } })
  expect((await end).state).toBe('stopped')
  expect(history.results('s1').map(({ case: c, converged, stopReason }) => [c.impl, c.params['n'], converged, stopReason?.split(',')[0]])).toEqual([['x', 1, false, 'stopped by the user'], ['y', 1, false, 'stopped by the user']])
  expect(history.remaining('s1').map((c) => c.params['n'])).toEqual([2, 2])
})
