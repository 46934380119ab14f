import { expect, it } from 'vitest'
import { importSession } from '../registry'

const outcomeOf = (value: unknown) => importSession('t.json', JSON.stringify(value), '2026-01-01T00:00:00.000Z')
const message = (value: unknown) => {
  const outcome = outcomeOf(value)
  return outcome.ok ? 'accepted' : outcome.message
}

it('reads what NumPy and PyTorch took as cases of this app, means marked as such', () => {
  const outcome = outcomeOf({ numpy: { add: { '1000': { mean_ns: 500.5, std_ns: 12, iterations: 100 } } }, pytorch_cpu: { add: { '1000': { mean_ns: 1400, std_ns: 90, iterations: 100 } } } })
  if (!outcome.ok) throw new Error(outcome.message)
  expect(outcome.file.results.map((result) => result.case)).toEqual(['numpy', 'pytorch'].map((impl) => ({ op: 'add', params: { n: 1000 }, dtype: 'f32', backend: 'trueno', impl, device: 'cpu', mode: 'hot' })))
  expect(outcome.file.results[0]).toMatchObject({ samplesNs: [], summary: { count: 100, medianNs: 500.5, meanNs: 500.5, stddevNs: 12 } })
  expect(outcome.file.results[0]?.notes?.join(' ')).toContain('the mean is shown as the median')
})

it('a median that the file states is one', () => {
  const outcome = outcomeOf({ numpy: { sum: { '10': { mean: 9, median: 8 } } } })
  if (!outcome.ok) throw new Error(outcome.message)
  expect(outcome.file.results[0]?.summary).toMatchObject({ medianNs: 8, meanNs: 9 })
  expect(outcome.file.results[0]!.notes ?? []).not.toContainEqual(expect.stringContaining('mean'))
})

it('names the library, operation and size that are wrong', () => {
  expect(message({ numpy: { add: { big: { mean_ns: 1 } } } })).toBe('t.json: numpy.add.big: expected a number of elements as the key, received "big"')
  expect(message({ numpy: { add: { '10': { std_ns: 1 } } } })).toBe('t.json: numpy.add.10.mean_ns: expected a number, received nothing')
  expect(message({ numpy: { add: { '10': { mean_ns: 'fast' } } } })).toBe('t.json: numpy.add.10.mean_ns: expected a number, received "fast"')
})
