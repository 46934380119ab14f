import { describe, expect, it } from 'vitest'
import { importSession } from '../registry'

const HEADER = 'group,function,value,throughput_num,throughput_type,sample_measured_value,unit,iteration_count'
const outcomeOf = (...lines: string[]) => importSession('raw.csv', `${lines.join('\n')}\n`, '2026-01-01T00:00:00.000Z')
const read = (...lines: string[]) => {
  const outcome = outcomeOf(...lines)
  if (!outcome.ok) throw new Error(outcome.message)
  return outcome.file.results
}
const message = (...lines: string[]) => {
  const outcome = outcomeOf(HEADER, ...lines)
  return outcome.ok ? 'accepted' : outcome.message
}

describe('reading', () => {
  it('divides the time of a sample by its calls, whose number may grow', () => {
    const [result] = read(HEADER, 'sum,fold,1000,4000,bytes,1000.0,ns,10', 'sum,fold,1000,4000,bytes,2400.0,ns,20')
    expect(result).toMatchObject({ case: { op: 'sum', impl: 'fold', params: { value: 1000 } }, samplesNs: [100, 120], bytes: 4000, measuredMs: 0.0034 })
    expect(result!.inner).toBeUndefined()
    expect(result!.notes).toContain('Samples are of 10 to 20 calls each.')
  })

  it('quoted names, no function, text values and other throughputs', () => {
    const results = read(HEADER, '"a, b",,,,,50.0,ns,10', 'a,f,big,7,elements,3.5,us,1')
    expect(results.map((result) => [result.case.op, result.case.impl, result.case.params])).toEqual([['a, b', 'imported', {}], ['a', 'f', { value: 'big' }]])
    expect(results[1]).toMatchObject({ samplesNs: [3500], inner: 1, stated: { 'elements per call': 7 }, bytes: 0 })
  })

  it('several files put together are one session', () => {
    expect(read(HEADER, 'a,,,,,1.0,ns,1', HEADER, 'b,,,,,2.0,ns,1').map((result) => result.case.op)).toEqual(['a', 'b'])
  })
})

it.each([
  ['a,,,,,fast,ns,1', 'raw.csv: line 2, sample_measured_value: expected a number of at least 0, received "fast"'],
  ['a,,,,,1.0,ns,0', 'raw.csv: line 2, iteration_count: expected a whole number of at least 1, received "0"'],
  ['a,,,,,1.0,cycles,1', 'raw.csv: line 2, unit: expected one of ns, us, µs, ms, s because only times can be read, received "cycles"'],
  ['a,,,,,1.0,ns', 'raw.csv: line 2: expected 8 cells as in the first line, received 7'],
])('refuses %s', (line, expected) => expect(message(line)).toBe(expected))

it('asks for a column that is not there', () => {
  expect(outcomeOf(HEADER.replace(',unit', ''), 'a,,,,,1.0,1')).toEqual({ ok: false, message: 'raw.csv: line 1: expected a column unit' })
})
