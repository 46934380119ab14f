import { describe, expect, it } from 'vitest'
import { sessionFileSchema } from '../../session/types'
import { testCase, testResult, testSession } from '../../testing'
import { randomSession } from '../testing/sessions'
import { exportSession, importSession } from '../registry'

const imported = (text: string) => {
  const outcome = importSession('t.csv', text, '2026-01-01T00:00:00.000Z')
  if (!outcome.ok) throw new Error(outcome.message)
  return outcome.file
}
const refusal = (text: string) => {
  const outcome = importSession('t.csv', text)
  return outcome.ok ? 'accepted' : outcome.message
}


describe('a table that Opscope wrote', () => {
  it('read and written again is the same but for what needs verification', () => {
    const file = testSession([testResult({ verification: undefined }), testResult({ id: 'r2', case: testCase({ op: '=sum', params: { axis: '-last', flag: true, n: 7 } }), status: 'failed', summary: undefined, samplesNs: [], verification: undefined, message: '@odd, "quoted"\nsecond line' })])
    const text = exportSession('csv', file)
    expect(exportSession('csv', imported(text))).toBe(text)
  })

  it('keeps case, status, figures, grade and time of every result', () => {
    for (let seed = 0; seed < 200; seed++) {
      const file = sessionFileSchema.parse(randomSession(seed))
      // A table cannot tell an empty word from none; what has no figures is looked at above.
      if (file.results.length === 0 || file.results.some((r) => r.case.params['axis'] === '' || !r.summary)) continue
      const back = imported(exportSession('csv', file)).results
      expect(back.map((r) => r.case)).toEqual(file.results.map((r) => r.case))
      for (const [i, r] of file.results.entries()) {
        const { mildOutliers: _mild, severeOutliers: _severe, ciWidened: _widened, p25Ns: _p25, p75Ns: _p75, ...figures } = r.summary!
        expect(back[i]!.summary).toEqual(figures)
        expect(back[i]).toMatchObject({ id: r.id, status: r.status, startedAt: r.startedAt, bytes: r.bytes, flops: r.flops, grade: r.grade, converged: r.converged })
        expect(back[i]!.energy).toEqual(r.energy)
      }
    }
  })
})

describe('a table of another tool', () => {
  it('needs an operation and a time; work follows from the rates', () => {
    const [result] = imported('\ufeffop,size,median_ns,gbps,gflops\r\nadd,1e3,200,60,5\r\n').results
    expect(result).toMatchObject({ case: { op: 'add', params: { size: 1000 }, dtype: 'unknown', backend: 'csv', impl: 'imported', device: 'cpu', mode: 'hot' }, status: 'ok', summary: { medianNs: 200 }, bytes: 12000, flops: 1000, samplesNs: [] })
    expect(result!.summary!.minNs).toBeUndefined()
  })

  it.each([
    ['no time', 'op,median_ns\nadd,\n', /^t\.csv: line 2, column median_ns: expected a time, because there is no status, received nothing$/],
    ['a negative time', 'op,median_ns\nadd,1\n\nadd,-5\n', /^t\.csv: line 4, column median_ns: expected a number of at least 0, received "-5"$/],
    ['a time without bounds', 'op,median_ns\nadd,1e999\n', /expected a number of at least 0, received "1e999"/],
    ['a word for a time', 'op,median_ns\nadd,fast\n', /received "fast"/],
    ['an unknown status', 'op,median_ns,status\nadd,1,fine\n', /column status: expected one of ok, wrong/],
    ['a cell too many', 'op,median_ns\nadd,1,2\n', /line 2: expected 2 cells as in the first line, received 3/],
    ['a column twice', 'op,n,n,median_ns\nadd,1,2,3\n', /line 1: the column "n" is there twice/],
    ['an open quote', 'op,median_ns\n"add,1\n', /line 2: expected a closing quote, received the end of the file/],
    ['a prototype column', 'op,param___proto__,median_ns\nadd,1,2\n', /"param___proto__" is not allowed/],
    ['no rows', 'op,median_ns\n', /line 2: expected a result/],
    ['a result twice', 'op,median_ns,result_id\nadd,1,a\nadd,1,a\n', /results\[1\]\.id: expected an id of its own/],
  ])('is refused with %s', (_what, text, message) => expect(refusal(text)).toMatch(message))
})

describe('the energy of a call', () => {
  const cells = (energy: string) => `op,median_ns,energy_j,energy_low_j,energy_high_j,power_w,energy_windows,energy_seconds,energy_calls,energy_source\nadd,10,${energy}\n`

  it('of another tool, without interval or windows, is stated and not kept', () => {
    const [result] = imported('op,median_ns,energy_j\nadd,10,0.5\n').results
    expect(result).not.toHaveProperty('energy')
    expect(result!.notes).toContain('The file states 0.5 J a call, without the interval and windows that an energy needs.')
  })

  it('outside its interval, or with a count that is none, is refused', () => {
    expect(imported(cells('0.5,0.49,0.51,50,5,10,1000,RAPL')).results[0]!.energy).toEqual({ joulesPerCall: 0.5, lowJ: 0.49, highJ: 0.51, watts: 50, windows: 5, seconds: 10, calls: 1000, source: 'RAPL' })
    expect(refusal(cells('0.5,0.6,0.7,50,5,10,1000,RAPL'))).toContain('line 2, column energy_j: expected a number above 0 within its interval')
    expect(refusal(cells('0.5,0.49,0.51,50,0,10,1000,RAPL'))).toContain('column energy_windows: expected a whole number of at least 1')
  })
})
