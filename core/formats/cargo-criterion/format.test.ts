import { expect, it } from 'vitest'
import { importSession } from '../registry'

const complete = (id: string, change: object = {}) => ({ reason: 'benchmark-complete', id, iteration_count: [10, 20], measured_values: [1000, 2200], unit: 'ns', throughput: [], ...change })
const group = (group_name: string, ...benchmarks: string[]) => ({ reason: 'group-complete', group_name, benchmarks, report_directory: '' })
const outcomeOf = (...messages: unknown[]) => importSession('m.jsonl', messages.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join('\n'), '2026-01-01T00:00:00.000Z')
const read = (...messages: unknown[]) => {
  const outcome = outcomeOf(...messages)
  if (!outcome.ok) throw new Error(outcome.message)
  return outcome.file.results
}
const message = (...messages: unknown[]) => {
  const outcome = outcomeOf(...messages)
  return outcome.ok ? 'accepted' : outcome.message
}

it('splits an id only where its group is known', () => {
  const results = read(complete('a/b/8'), complete('c/d/9'), complete('c/10'), complete('c/e'), group('c', 'c/d/9', 'c/10', 'c/e'), { reason: 'something-new' })
  expect(results.map(({ case: c }) => [c.op, c.impl, c.params])).toEqual([['a/b/8', 'imported', {}], ['c', 'd', { value: 9 }], ['c', 'imported', { value: 10 }], ['c', 'e', {}]])
  expect(results[0]?.samplesNs).toEqual([100, 110])
})

it('bytes per call are known from the throughput', () => {
  expect(read(complete('a', { throughput: [{ per_iteration: 4096, unit: 'bytes' }] }))[0]?.bytes).toBe(4096)
})

it('names the line of what is wrong', () => {
  expect(message(complete('a'), complete('b', { measured_values: [1] }))).toBe('m.jsonl: line 2, measured_values: expected 2 values as in iteration_count, received 1')
  expect(message(complete('a'), '', complete('b', { iteration_count: [1, 0] }))).toBe('m.jsonl: line 3, iteration_count[1]: expected a number above 0, received 0')
  expect(message(complete('a', { unit: 'cycles' }))).toContain('line 1, unit: expected one of ns')
  expect(message(complete('a'), '{"reason":')).toBe('m.jsonl: line 2: expected a message of cargo-criterion, a JSON object with a reason')
})
