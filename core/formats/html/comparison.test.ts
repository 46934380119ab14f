// @vitest-environment happy-dom
import { expect, it } from 'vitest'
import { testCell, testComparison } from '../../compare/testing'
import { comparisonHtml } from './comparison'
import { SCRIPT } from './page'

const ATTACK = `<img src=x onerror="alert(1)">`
const comparison = testComparison([[{ op: 'add' }, testCell(1.2, 'slower', { doubt: 'Few samples.' })], [{ op: 'gelu' }, testCell(0.5, 'faster')], [{ op: 'gelu', params: { n: 7 } }, null]], {
  sessions: [{ id: 'a', name: 'before', createdAt: '' }, { id: 'b', name: ATTACK, createdAt: '' }],
  environmentDifferences: ['Kernel: 6.1, then 6.8.'],
})
const page = (html: string) => new DOMParser().parseFromString(html, 'text/html')
const cellsOf = (doc: Document, table: string) => Array.from(doc.querySelectorAll(`table[aria-label="${table}"] tbody tr`), (row) => Array.from(row.querySelectorAll('td'), (cell) => cell.textContent))

it('reports every verdict with its interval, means by operation, and what differs between the machines', () => {
  const doc = page(comparisonHtml(comparison))
  expect(cellsOf(doc, 'Verdicts')).toHaveLength(3)
  expect(cellsOf(doc, 'Verdicts')[0]).toContain('▼ slower (Few samples.)')
  expect(cellsOf(doc, 'Verdicts')[1]).toContain('2.000x')
  expect(cellsOf(doc, 'By operation').map(([op, , mean]) => [op, mean])).toEqual([['add', '0.833x'], ['gelu', '2.000x']])
  const [means, cases] = Array.from(doc.querySelectorAll('figure'))
  // The answer comes first: the sentence, then the means.
  expect(doc.querySelector('p.answer')!.textContent).toMatch(/is 1\.29x faster than before \(geometric mean over 2 cases, .*\): 1 faster, 1 slower, 0 same, 0 unclear\.$/)
  expect(Array.from(means!.querySelectorAll('text[fill="var(--text)"]'), (text) => text.textContent)).toEqual(['gelu', 'add'])
  expect(cases!.querySelectorAll('circle')).toHaveLength(2)
  expect(doc.body.textContent).toContain('Kernel: 6.1, then 6.8.')
})

it('has the energy ratio with its interval and verdict beside the speedup, where it was measured', () => {
  expect(comparisonHtml(comparison)).not.toContain('energy')
  const energy = { ratio: 0.909, low: 0.905, high: 0.913, verdict: 'less' as const, p: 0.0001, adjustedP: 0.0001 }
  const doc = page(comparisonHtml(testComparison([[{ op: 'matmul' }, testCell(0.9, 'faster', { joulesPerCall: 0.1457, energy })], [{ op: 'add' }, testCell(1.2, 'slower')]])))
  const heads = Array.from(doc.querySelectorAll('table[aria-label="Verdicts"] th'), ({ textContent }) => textContent!.trim())
  const [matmul, add] = cellsOf(doc, 'Verdicts')
  expect(matmul!.slice(heads.indexOf('energy'))).toEqual(['146 mJ', '0.909x', '0.905 to 0.913', '▼ less'])
  expect(add!.slice(heads.indexOf('energy'))).toEqual(['–', '–', '–', '–'])
  expect(Array.from(doc.querySelectorAll('p.answer'), ({ textContent }) => textContent)[1]).toBe('Driver 570 uses 0.909x the energy per call of Driver 560 (geometric mean over 1 case, 95 % CI 0.905x to 0.913x): 1 less, 0 more, 0 same, 0 unclear.')
})

it('draws the largest effects, as many as fit a page with their axis, and marks where nothing changed', () => {
  const many = testComparison(Array.from({ length: 30 }, (_, i): [{ op: string; params: { n: number } }, ReturnType<typeof testCell>] => [{ op: 'add', params: { n: 64 + i } }, testCell(1 + i / 100, 'slower')]))
  const doc = page(comparisonHtml(many))
  const cases = doc.querySelectorAll('figure')[1]!
  expect(cases.querySelectorAll('circle')).toHaveLength(20)
  expect(cases.querySelector('figcaption')!.textContent).toContain('the 20 largest of 30 cases')
  expect(cases.querySelectorAll('[stroke="var(--unit)"]')).toHaveLength(1)
})

it('shows names as text, and needs no network', () => {
  const html = comparisonHtml(comparison)
  expect(page(html).querySelectorAll('img')).toHaveLength(0)
  expect(page(html).querySelector('h1')!.textContent).toBe(`before vs ${ATTACK}`)
  expect(html.replace(SCRIPT, '')).not.toMatch(/https?:|url\(|\bNaN\b|\bundefined\b/)
  expect(comparisonHtml({ ...comparison, rows: [] })).toContain('No speedup to draw')
})
