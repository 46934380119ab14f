import { describe, expect, test } from 'vitest'
import { testCase } from '../../testing'
import { comparisonCsv, comparisonTsv, comparisonMarkdown, markdownText, rowsMarkdown } from './export'
import { testCell, testComparison } from '../testing'

const comparison = testComparison(
  [
    [{ op: 'softmax', params: { rows: 4096, cols: 4096 }, backend: 'cuda', device: 'cuda:0', impl: 'kernel', threads: undefined as never }, testCell(1.12, 'slower')],
    [{ op: 'softmax', params: { rows: 512, cols: 512 } }, testCell(1.31, 'slower', { grade: 'C' })],
    [{ op: 'add', params: { n: 1 << 20 } }, testCell(0.8, 'faster')],
    [{ op: 'add', params: { n: 1 << 24 } }, testCell(1.004, 'same')],
    [{ op: 'gelu' }, testCell(1.04, 'ambiguous', { doubt: 'Slower in time but same in SM cycles.' })],
  ],
  {
    sessions: [{ id: 's1', name: 'main', createdAt: '2026-01-01T00:00:00Z' }, { id: 's2', name: 'fast|path <b>*new*</b> @reviewer #12', createdAt: '2026-01-02T00:00:00Z' }],
    versions: true,
    opThresholds: { softmax: 0.03 },
    unmatched: [
      { sessionId: 's2', case: testCase({ op: 'matmul', params: { m: 64, n: 64, k: 64 } }), reason: 'Left out: its result is “wrong”: 12 elements were not written.', status: 'wrong' },
      { sessionId: 's1', case: testCase({ op: 'sum' }), reason: 'No other session has this case.', baseline: true },
    ],
    environmentDifferences: ['Driver of Test GPU: 560.35 in “main”, 570.86 in “fast|path”.', 'Kernel: 6.1 in “main”, 6.8 in “fast|path”.'],
    noiseFloors: [{ backend: 'cpu', device: 'cpu', deviceName: 'Test CPU', measuredAt: '2026-01-01T00:00:00Z', pairs: 24, falseVerdicts: 0, ratioP50: 0.002, ratioP95: 0.006, sessionId: 's' }],
  },
)

describe('Markdown of a pull request', () => {
  test('is the golden one', async () => {
    await expect(comparisonMarkdown(comparison)).toMatchFileSnapshot('./golden/pull-request.md')
  })

  test('of three sides names the side in each row', async () => {
    const three = { ...testComparison([[{ op: 'add' }, testCell(1.2), testCell(0.9, 'faster')], [{ op: 'gelu' }, null, testCell(1.5)]]), sessions: ['A', 'B', 'C'].map((name) => ({ id: name, name, createdAt: '2026-01-01T00:00:00Z' })) }
    await expect(comparisonMarkdown(three)).toMatchFileSnapshot('./golden/three-sides.md')
  })

  test('shows names literally, whoever chose them', () => {
    expect(markdownText('a|b\n| c |')).toBe('a\\|b \\| c \\|')
    expect(markdownText('<img src=x onerror=alert(1)>')).toBe('&lt;img src=x onerror=alert(1)&gt;')
    expect(markdownText('[click](javascript:x) `x` *y* _z_')).toBe('\\[click\\](javascript:x) \\`x\\` \\*y\\* \\_z\\_')
    expect(markdownText('@team https://evil.example')).toBe('@\u200bteam https:\u200b//evil.example')
  })

  test('says how many of a long list are not shown', () => {
    const many = testComparison(Array.from({ length: 60 }, (_, i) => [{ params: { n: i + 1 } }, testCell(1.1 + i / 100)] as const))
    expect(comparisonMarkdown(many)).toContain('and 10 more.')
  })
})

test('the rows alone are a Markdown table with a cell for every column', () => {
  const lines = rowsMarkdown(comparison).trimEnd().split('\n')
  expect(lines).toHaveLength(7)
  expect(new Set(lines.map((line) => line.replaceAll('\\|', '').split('|').length)).size).toBe(1)
  expect(lines[2]).toContain('▼ slower')
})

test('CSV has one record per cell with numbers in full, TSV one line per case', () => {
  const csv = comparisonCsv(comparison).trimEnd().split('\n')
  expect(csv).toHaveLength(6)
  expect(csv[1]).toMatch(/^softmax,softmax,4096x4096,rows=4096 cols=4096,f32,cuda,kernel,cuda:0,hot,,fast\|path <b>\*new\*<\/b> @reviewer #12,main,1000,A,1120,B,0.892857142857/)
  const tsv = comparisonTsv(comparison).trimEnd().split('\n')
  expect(tsv).toHaveLength(6)
  expect(tsv[2]!.split('\t').slice(1)).toEqual(['1000', '1310', '0.76336', '0.7558', '0.77107', 'slower', 'C'])
})

test('energy ratios stand beside the speedups in every form, where a case has them', () => {
  const energy = { ratio: 0.909, low: 0.905, high: 0.913, verdict: 'less' as const, p: 0.0001, adjustedP: 0.0002 }
  const measured = testComparison([[{ op: 'matmul' }, testCell(0.9, 'faster', { joulesPerCall: 0.1457, energy })], [{ op: 'add' }, testCell(1.2, 'slower')]])
  measured.rows[0]!.cells[0]!.joulesPerCall = 0.1602
  const markdown = comparisonMarkdown(measured)
  expect(markdown).toContain('Driver 570 uses 0.909x the energy per call of Driver 560')
  expect(markdown).toMatch(/#### Energy per call \(1 case\)\n\n\| Case \| Baseline \| Now \| Ratio \| 95 % CI \| Verdict \|\n.*\n\| matmul .* \| 160 mJ \| 146 mJ \| 0\.909x \| 0\.905 to 0\.913 \| ▼ less \|/)
  expect(rowsMarkdown(measured)).toContain('| 0.909x | 0.905 to 0.913 | ▼ less |')
  const [head, first, second] = comparisonCsv(measured).trimEnd().split('\n').map((line) => line.split(','))
  const from = head!.indexOf('baseline_energy_j')
  expect(head!.slice(from)).toEqual(['baseline_energy_j', 'energy_j', 'energy_ratio', 'energy_low', 'energy_high', 'energy_verdict', 'energy_p', 'energy_adjusted_p', 'energy_doubt'])
  expect(first!.slice(from)).toEqual(['0.1602', '0.1457', '0.909', '0.905', '0.913', 'less', '0.0001', '0.0002', ''])
  expect(second!.slice(from).join('')).toBe('')
  expect(comparisonTsv(measured)).toContain('0.1457\t0.909\t0.905\t0.913\tless')
  expect(comparisonMarkdown(comparison)).not.toContain('nergy')
})
