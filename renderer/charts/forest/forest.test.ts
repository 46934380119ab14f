import { describe, expect, it } from 'vitest'
import { testCell, testComparison } from '@core/compare/testing'
import { renderSvg } from '../drawing/page/echarts'
import { chartTheme } from '../drawing/theme/theme'
import { forestCsv, forestOption, layoutOf } from './option'
import { forestRows, forestText, openAtFirst } from './rows'

const theme = chartTheme('light')
const sessions = ['A', 'B', 'C'].map((name) => ({ id: name, name, createdAt: '2026-01-01T00:00:00Z' }))
const nameOf = (row: { caseId: string }) => `name of ${row.caseId}`
const comparison = testComparison(
  [
    [{ op: 'softmax' }, testCell(1.2, 'slower', { resultId: 'r0' })],
    [{ op: 'add', params: { n: 64 } }, testCell(0.9, 'faster', { resultId: 'r1' })],
    [{ op: 'add', params: { n: 128 } }, testCell(0.5, 'faster', { resultId: 'r2' })],
    [{ op: 'gelu' }, testCell(1, 'ambiguous', { resultId: 'r3' })],
    [{ op: 'gelu', dtype: 'bf16' }, null],
  ],
  { sessions: sessions.slice(0, 2), opThresholds: { softmax: 0.1 } },
)
const draw = (open: readonly string[], marked: readonly string[] = [], of = comparison, width = 900) => {
  const rows = forestRows(of, new Set(open))
  return { rows, option: forestOption({ comparison: of, rows, nameOf, marked: new Set(marked), theme, width })! }
}
const itemsOf = (option: { series: readonly { id: string; data: unknown[] }[] }, id: string) => option.series.find((series) => series.id === id)!.data as [number, number, number, number, string][]

describe('rows of a forest plot', () => {
  it('are operations by their geometric mean, the fastest first, with their cases by size where open', () => {
    expect(forestRows(comparison, new Set()).map(({ id }) => id)).toEqual(['group add', 'group gelu', 'group softmax'])
    expect(forestRows(comparison, new Set(['add'])).map(({ id }) => id)).toEqual(['group add', 'case-1', 'case-2', 'group gelu', 'group softmax'])
  })

  it('leave out cases that have no speedup, and open all of a short comparison alone', () => {
    expect(forestRows(comparison, new Set(['gelu'])).filter(({ kind }) => kind === 'case').map(({ id }) => id)).toEqual(['case-3'])
    expect(openAtFirst(comparison)).toEqual(new Set(['softmax', 'add', 'gelu']))
    const many = testComparison(Array.from({ length: 800 }, (_, i) => [{ op: `op${i % 90}`, params: { n: i + 1 } }, testCell(1)] as const))
    expect(openAtFirst(many)).toEqual(new Set())
    expect(forestRows(many, new Set())).toHaveLength(90)
  })

  it('are said in words, the answer first', () => {
    expect(forestText(comparison)).toMatch(/^Forest plot of speedups\. B is 1\.\d+x faster than A .*: 2 faster, 1 slower, 0 same, 1 unclear\. By operation: add 1\.491x, gelu 1\.000x, softmax 0\.833x\.$/)
  })
})

describe('a forest plot', () => {
  it('draws every case by its verdict and result, with an interval where its operation is open', () => {
    const { option } = draw(['add'])
    expect(itemsOf(option, 'faster 1').map(([ratio, row, low, , id]) => [ratio.toFixed(3), row, low > 0, id])).toEqual([['1.111', 1, true, 'r1'], ['2.000', 2, true, 'r2']])
    expect(itemsOf(option, 'slower 1').map(([, row, low, , id]) => [row, low > 0, id])).toEqual([[4, false, 'r0']])
    expect(itemsOf(option, 'ambiguous 1').map((item) => item[4])).toEqual(['r3'])
  })

  it('draws the mean of each operation with its interval, and the threshold in force for it', () => {
    const { option } = draw([])
    expect(itemsOf(option, 'mean 1').map(([mean, , low, high, id]) => [id, low < mean && mean < high])).toEqual([['group add', true], ['group gelu', true], ['group softmax', true]])
    expect(itemsOf(option, 'threshold 1').map(([, , low, high]) => [low.toFixed(3), high.toFixed(3)])).toEqual([['0.990', '1.010'], ['0.990', '1.010'], ['0.909', '1.111']])
  })

  it('says verdicts by sign and word, and names operations, in its picture', () => {
    const svg = renderSvg(draw(['add']).option, 900, 300)
    for (const text of ['▾ add', '▸ softmax', '2.000x ▲ faster', 'name of case-2', '▼1']) expect(svg).toContain(text)
    expect(svg).not.toMatch(/NaN|undefined/)
  })

  it('gives every side a plot of its own on one scale, below each other where there is no room', () => {
    const three = { ...testComparison([[{ op: 'add' }, testCell(0.5, 'faster', { resultId: 'b' }), testCell(2, 'slower', { resultId: 'c' })]]), sessions }
    const { option } = draw([], [], three)
    expect(option.grid).toHaveLength(2)
    expect(new Set(option.xAxis.map(({ min, max }) => `${min} ${max}`)).size).toBe(1)
    expect(option.title.map(({ text }) => text)).toEqual(['Speedup over A', 'B', 'C'])
    const narrow = layoutOf(6, 3, 700, 20).grids
    expect(new Set(narrow.map(({ top }) => top)).size).toBeGreaterThan(1)
    expect(renderSvg(option, 900, 300)).not.toContain('NaN')
  })

  it('exports every case and mean, whatever is open', () => {
    const lines = forestCsv(comparison, forestRows(comparison, new Set()), nameOf).trim().split('\n')
    expect(lines).toHaveLength(1 + 3 + 4)
    expect(lines[1]).toMatch(/^add,geometric mean,B,1\.49\d*,/)
    expect(lines.at(-1)).toMatch(/^softmax,name of case-0,B,0\.83\d*,.*,slower,$/)
    expect(draw([], [], testComparison([[{}, null]])).option).toBeUndefined()
  })
})
