import { describe, expect, it } from 'vitest'
import { testCase, testResult, testSession } from '../../testing'
import { randomSession } from '../testing/sessions'
import { exportSession } from '../registry'
import { escapeMarkdown } from './format'

/** Cells of a table's line, as GitHub splits it: at bars that no backslash stands before. */
const cellsOf = (line: string) => line.split(/(?<!\\)\|/).slice(1, -1)

describe('markdown report', () => {
  const result = testResult({ status: 'failed', message: 'a | b\n# c', summary: undefined, case: testCase({ op: 'softmax', params: { rows: 64, cols: 128 } }) })
  const text = exportSession('markdown', testSession([testResult(), result], { name: 'Night | run', notes: 'first\n- second', tags: ['h200'] }))

  it('begins with the answer, its table and what is wrong with the machine', () => {
    const at = (id: string, impl: string, medianNs: number) => testResult({ id, case: testCase({ impl }), summary: { ...testResult().summary!, medianNs, ciLowNs: medianNs * 0.99, ciHighNs: medianNs * 1.01 } })
    const written = exportSession('markdown', testSession([at('a', 'scalar', 400), at('b', 'avx2', 100)]))
    expect(written.indexOf('## Answer')).toBeLessThan(written.indexOf('## Findings'))
    expect(written).toMatch(/## Answer\n\n\*\*cpu avx2 is fastest in 1 of 1 operation\.\*\*\n\n- cpu (avx2|scalar) is 4\.00x (faster|slower) than cpu (avx2|scalar) \(geometric mean over 1 case/)
    expect(written).toMatch(/\| add \| cpu avx2 \| 1 of 1 \|/)
    // Blocks of an interleaved comparison have their answer in that comparison alone.
    expect(exportSession('markdown', testSession([at('a', 'scalar', 400), at('b', 'avx2', 100)], { about: { kind: 'interleaved' } }))).not.toContain('fastest')
  })

  it('shows the speedups as bars around 1x, the longest for the largest, whatever an implementation is called', () => {
    const at = (id: string, op: string, impl: string, medianNs: number) => testResult({ id, case: testCase({ op, impl }), summary: { ...testResult().summary!, medianNs, ciLowNs: medianNs * 0.999, ciHighNs: medianNs * 1.001 } })
    const written = exportSession('markdown', testSession([at('a', 'add', 'numpy', 400), at('b', 'add', 'own', 100), at('c', 'mul', 'numpy', 100), at('d', 'mul', 'own', 200), at('e', 'add', '```evil', 400), at('f', 'mul', '```evil', 100)]))
    const [, block] = /```text\n([\s\S]*?)\n```/.exec(written)!
    const [title, ...bars] = block!.split('\n')
    expect(title).toMatch(/^Speedup over cpu (numpy|own| evil) by operation/)
    const cells = bars.map((bar) => ({ ratio: Number(/([\d.]+)x/.exec(bar)![1]), left: (bar.split('│')[0]!.match(/█/g) ?? []).length, right: (bar.split('│')[1]!.match(/█/g) ?? []).length }))
    expect(cells.length).toBe(4)
    for (const { ratio, left, right } of cells) expect([left, right]).toEqual([ratio < 1 ? Math.round(-Math.log2(ratio) * 10) : 0, ratio > 1 ? Math.round(Math.log2(ratio) * 10) : 0])
    expect(new Set(bars.map((bar) => bar.indexOf('│'))).size).toBe(1)
  })

  it('has findings, a table of the results and the machine', () => {
    expect(text).toMatch(/^# Night \\\| run\n/)
    expect(text).toContain('2 of 2 cases, 1 without a valid result')
    expect(text).toContain('> first\n> \\- second')
    expect(text).toMatch(/- \*\*❌ Problem: Failed or inaccurate\.\*\* softmax 64x128 f32 hot on cpu avx2, 1 thread failed: a \\\| b # c/)
    expect(text).toContain('| softmax | 64x128 | f32 |')
    expect(text).toContain('| Processor | Test CPU, 4 logical CPUs |')
  })

  it('has columns of energy where a result has one, and none where none has', () => {
    const energy = { joulesPerCall: 0.1457, lowJ: 0.1446, highJ: 0.1468, windows: 5, seconds: 10, calls: 50_000, watts: 690, source: 'NVML total energy' }
    const rows = (results: ReturnType<typeof testResult>[]) => exportSession('markdown', testSession(results)).split('\n').filter((line) => /^\| (op|add) /.test(line)).map(cellsOf).map((cells) => cells.map((cell) => cell.trim()))
    const [head, with_, without] = rows([testResult({ energy, flops: 1e9, bytes: 2e6 }), testResult({ id: 'r2' })]).filter((cells) => cells.length > 15)
    expect(['energy mJ', 'energy ±', 'power W', 'GFLOP/J', 'MB/J', 'EDP J s'].map((title) => with_![head!.indexOf(title)])).toEqual(['145.7', '±0.75 %', '690', '6.863', '13.73', '2.91e-5'])
    expect(without![head!.indexOf('energy mJ')]).toBe('–')
    expect(exportSession('markdown', testSession([testResult()]))).not.toContain('EDP')
  })

  it('says what three right runs of a case say together, and nothing of two', () => {
    const run = (i: number, medianNs: number, status: 'ok' | 'wrong' = 'ok') => testResult({ id: `run${i}`, run: i, status, summary: { ...testResult().summary!, medianNs } })
    const written = exportSession('markdown', testSession([run(0, 100), run(1, 101), run(2, 102), run(3, 500, 'wrong')]))
    expect(written).toContain('## Over runs\n\nThe interval of one run speaks about')
    expect(written).toMatch(/\| add \| 1000 \| cpu avx2 f32 hot 1 thread \| 3 \| 101\.0 \| ±2\.\d+ % \|/)
    expect(exportSession('markdown', testSession([run(0, 100), run(1, 101), run(2, 500, 'wrong')]))).not.toContain('Over runs')
  })

  it('keeps every row of a table on one line with all its cells, whatever the texts', () => {
    for (let seed = 0; seed < 100; seed++) {
      const written = exportSession('markdown', randomSession(seed))
      for (const table of written.match(/(^\|.*\n)+/gm) ?? []) {
        const lines = table.trimEnd().split('\n')
        expect(new Set(lines.map((line) => cellsOf(line).length)).size).toBe(1)
      }
      expect(written).not.toMatch(/\b(NaN|undefined)\b/)
      expect(written).not.toMatch(/<script|<img/i)
    }
  })
})

it('leaves readable words alone and takes the meaning from the rest', () => {
  expect(escapeMarkdown('layer_norm 16.8M ±0.3 % (cuda:0)')).toBe('layer_norm 16.8M ±0.3 % (cuda:0)')
  expect(escapeMarkdown('_x_ *y* `z` [a](b) <b> &lt; | ~~')).toBe('\\_x\\_ \\*y\\* \\`z\\` \\[a\\](b) &lt;b&gt; &amp;lt; \\| \\~\\~')
  expect(escapeMarkdown('ask @someone, see #12, http://x.y')).toBe('ask @<!-- -->someone, see #<!-- -->12, http<!-- -->://x.y')
  expect(['# a', '- a', '1. a', '2) a'].map(escapeMarkdown)).toEqual(['\\# a', '\\- a', '\\1. a', '\\2) a'])
})
