import { expect, test } from 'vitest'
import type { BenchmarkCase } from '@core/case'
import { PRESETS, type MeasureSettings } from '@core/measure/settings'
import type { Result } from '@core/result'
import { aCase, aResult, aSpec, planOf, ScriptedKind, scriptedRunner } from '../testing'
import { sweepSource, type Step } from './source'

const impls = (n: number, ...names: string[]): BenchmarkCase[] => names.map((impl) => ({ ...aCase(n), impl }))
const ROUNDS: MeasureSettings = { ...PRESETS.quick, rounds: true }
const source = (cases: readonly BenchmarkCase[], settings = ROUNDS) => sweepSource({ cases, settings, repeats: 1, secondsOf: () => 1 })

/** Goes through a source; `timeOf` says what a block takes in ns, undefined that it fails. */
function run({ turns, left }: ReturnType<typeof sweepSource>, timeOf: (c: BenchmarkCase, block: number) => number | undefined) {
  const order: string[] = []
  const stored: Result[] = []
  let step: IteratorResult<Step, void> = turns.next()
  for (let block = 0; !step.done; block++) {
    if ('result' in step.value) {
      stored.push(step.value.result)
      step = turns.next(step.value.result)
      continue
    }
    const { case: c, round } = step.value
    order.push(`${c.impl}${c.params['n']}${round ? '' : ' alone'}`)
    const ns = timeOf(c, block)
    const result: Result = { ...aResult(String(block), c), wallMs: 5, inner: 10, timer: 'steady-clock', tickNs: 1, ...(ns === undefined ? { status: 'crashed' as const } : {}), samplesNs: Array.from({ length: 48 }, (_, i) => (ns ?? 0) * (1 + (i % 7) / 5000)) }
    step = turns.next(result)
  }
  return { order, stored, left: [...left()].reduce((sum, { seconds }) => sum + seconds, 0) }
}

test('implementations of one case go there and back until their speedups are known, and each has one result', () => {
  const { order, stored, left } = run(source(impls(1, 'x', 'y', 'z')), (c, block) => ({ x: 100, y: 200, z: 50 })[c.impl]! * (1 + block / 100))
  expect(order.slice(0, 6)).toEqual(['x1', 'y1', 'z1', 'z1', 'y1', 'x1'])
  expect(stored.map((result) => [result.case.impl, result.rounds!.ratio!.ratio.toFixed(2)])).toEqual([['x', '1.00'], ['y', '2.00'], ['z', '0.50']])
  expect(stored[1]!.rounds!.numbers.length).toBe(order.length / 3)
  expect(left).toBeCloseTo(0)
})

test('rounds of several groups are spread over each other', () => {
  const { order, stored } = run(source([...impls(1, 'x', 'y'), ...impls(2, 'x', 'y')]), () => 100)
  expect(order.slice(0, 8)).toEqual(['x1', 'y1', 'y1', 'x1', 'x2', 'y2', 'y2', 'x2'])
  expect(stored).toHaveLength(4)
})

test('an implementation that fails has its failure for a result, and the others go on', () => {
  const { stored } = run(source(impls(1, 'x', 'y', 'z')), (c, block) => (c.impl === 'x' && block > 5 ? undefined : 100))
  expect(stored.map(({ case: c, status }) => [c.impl, status])).toEqual([['x', 'crashed'], ['y', 'ok'], ['z', 'ok']])
  expect(stored[1]!.rounds!.ratio).toEqual({ ratio: 1, low: 1, high: 1 })
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
  host.onCase = () => host.measured.length === 4 && runner.stop()
  const end = ended()
  await runner.start({ ...aSpec(['cpu']), measure: { rounds: true } })
  expect((await end).state).toBe('stopped')
  expect(history.results('s1').map(({ case: c, converged, stopReason }) => [c.impl, converged, stopReason?.split(',')[0]])).toEqual([['x', false, 'stopped by the user'], ['y', false, 'stopped by the user']])
  expect(history.remaining('s1').map((c) => c.params['n'])).toEqual([2, 2])
})
