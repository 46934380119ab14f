import type { BenchmarkCase } from '../case'
import { testCase } from '../testing'
import { facetsOf, type CompareCell, type Comparison } from './types'

/** A compared cell whose median is `timeRatio` times the baseline's 1 µs, with an interval of ±1 %, for tests; `change` overrides what a test is about. */
export const testCell = (timeRatio: number, verdict: CompareCell['verdict'] = 'slower', change: Partial<CompareCell> = {}): CompareCell => ({
  resultId: 'side', medianNs: 1000 * timeRatio, grade: 'B', speedup: 1 / timeRatio, speedupLow: 1 / (timeRatio * 1.01), speedupHigh: 1 / (timeRatio * 0.99), ...(verdict ? { verdict } : {}), p: 0.0005, adjustedP: 0.001, ...change,
})

/** A comparison of two sessions with one row per pair of a case and its cell. */
export function testComparison(cells: readonly (readonly [change: Partial<BenchmarkCase>, ...cells: (CompareCell | null)[]])[], change: Partial<Comparison> = {}): Comparison {
  const rows = cells.map(([part, ...sides], i): Comparison['rows'][number] => {
    const c = testCase(part)
    return { caseId: `case-${i}`, case: c, cells: [{ resultId: `base-${i}`, medianNs: 1000, grade: 'A' }, ...sides] }
  })
  return {
    sessions: [{ id: 's1', name: 'Driver 560', createdAt: '2026-01-01T00:00:00Z' }, { id: 's2', name: 'Driver 570', createdAt: '2026-01-02T00:00:00Z' }],
    threshold: 0.01, opThresholds: {}, facets: facetsOf(rows.map((row) => row.case)), rows, unmatched: [], overall: [null, null], noiseFloors: [], environmentDifferences: [], ...change,
  }
}
