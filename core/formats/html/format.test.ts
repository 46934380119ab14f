// @vitest-environment happy-dom
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Result } from '../../result'
import { testCase, testResult, testSession } from '../../testing'
import { randomSession } from '../testing/sessions'
import { exportSession, prepareExport } from '../registry'
import { SCRIPT } from './page'

await prepareExport('html')

const page = (html: string) => new DOMParser().parseFromString(html, 'text/html')
const ATTACK = `<img src=x onerror="alert(1)">"'&<script>alert(2)</script>`

const measured = (id: string, n: number, medianNs: number, change: Partial<Result> = {}) =>
  testResult({ id, case: testCase({ params: { n } }), bytes: 12 * n, flops: n, summary: { ...testResult().summary!, medianNs, ciLowNs: medianNs * 0.99, ciHighNs: medianNs * 1.01 }, ...change })

describe('html report', () => {
  it('shows the session, every result and the machine', () => {
    const doc = page(exportSession('html', testSession([measured('a', 1000, 36_800), measured('b', 4000, 120_000)], { name: 'Night run', notes: 'after the change', tags: ['h200'] })))
    expect(doc.querySelector('h1')!.textContent).toBe('Night run')
    expect(doc.body.textContent).toContain('2 of 2 cases, all passed')
    expect(doc.body.textContent).toContain('after the change')
    const cells = Array.from(doc.querySelector('table[aria-label=Results]')!.querySelectorAll('tbody tr')).map((row) => Array.from(row.querySelectorAll('td'), (cell) => cell.textContent))
    expect(cells).toHaveLength(2)
    expect(cells[0]!.slice(0, 10)).toEqual(['add', '1000', 'f32', 'cpu', 'avx2', 'hot', '1', 'ok', '36.80', '±1.00 %'])
    expect(doc.body.textContent).toContain('Test CPU, 4 logical CPUs')
  })

  it('has a table of what the runs of a case say together', () => {
    const doc = page(exportSession('html', testSession([measured('a', 1000, 100), measured('b', 1000, 101), measured('c', 1000, 102), measured('d', 4000, 300)])))
    const cells = Array.from(doc.querySelectorAll('table[aria-label="Over runs"] tbody tr'), (row) => Array.from(row.querySelectorAll('td'), (cell) => cell.textContent))
    expect(cells).toMatchObject([['add', '1000', 'cpu avx2 f32 hot 1 thread', '3', '101.0', expect.stringMatching(/^±2\./)]])
    expect(page(exportSession('html', testSession([measured('a', 1000, 100)]))).querySelector('table[aria-label="Over runs"]')).toBeNull()
  })

  it('draws time and rate per op, a point for each right result', () => {
    const doc = page(exportSession('html', testSession([measured('a', 1000, 100), measured('b', 4000, 300), measured('c', 16_000, 900, { status: 'wrong', message: 'off' })])))
    expect(Array.from(doc.querySelectorAll('figcaption'), (f) => f.textContent)).toEqual(['Time per call', 'Bandwidth'])
    expect(doc.querySelectorAll('figure')[0]!.querySelectorAll('circle')).toHaveLength(2)
    const ys = Array.from(doc.querySelectorAll('figure')[0]!.querySelectorAll('circle'), (c) => Number(c.getAttribute('cy')))
    expect(ys[1]!).toBeLessThan(ys[0]!)
    expect(doc.querySelector('td.bad')!.textContent).toBe('verification failed')
  })

  it('draws ops of one size together, a row per case and a dot per implementation', () => {
    const at = (id: string, op: string, impl: string, medianNs: number) => measured(id, 1000, medianNs, { case: testCase({ op, impl, params: { n: 1000 } }) })
    const doc = page(exportSession('html', testSession([at('a', 'add', 'avx2', 100), at('b', 'add', 'scalar', 400), at('c', 'mul', 'avx2', 100), at('d', 'copy', 'avx2', 90), { ...at('e', 'copy', 'scalar', 80), status: 'wrong' }])))
    const time = doc.querySelectorAll('figure')[1]!
    expect(Array.from(time.querySelectorAll('text[fill="var(--text)"]'), (text) => text.textContent)).toEqual(['add 1000', 'mul 1000', 'copy 1000'])
    const xs = new Map(Array.from(time.querySelectorAll('circle, .mark'), (dot) => [dot.textContent!.split(' f32')[0]!.replace('\n', ': '), Number(dot.getAttribute('cx') ?? dot.getAttribute('data-at')!.split(',')[0])]))
    expect(xs.size).toBe(4)
    expect(xs.get('add 1000: cpu scalar')!).toBeGreaterThan(xs.get('add 1000: cpu avx2')!)
    expect(xs.get('mul 1000: cpu avx2')).toBe(xs.get('add 1000: cpu avx2'))
    expect(Array.from(doc.querySelectorAll('.legend')[1]!.querySelectorAll('li'), (item) => item.textContent)).toEqual(['cpu avx2', 'cpu scalar'])
  })

  it('begins with the answer: the fastest by operation, speedups over the baseline as a picture, what is unclear, what is wrong with the machine', () => {
    const at = (id: string, op: string, impl: string, medianNs: number) => measured(id, 1000, medianNs, { case: testCase({ op, impl, params: { n: 1000 } }) })
    const file = testSession([at('a', 'add', 'scalar', 400), at('b', 'add', 'avx2', 100), at('c', 'gelu', 'scalar', 300), at('d', 'gelu', 'avx2', 301)])
    const doc = page(exportSession('html', { ...file, environment: { ...file.environment, devices: file.environment.devices.map((device) => ({ ...device, warnings: ['The clock is not locked.'] })) } }))
    expect(Array.from(doc.querySelectorAll('h2'), (head) => head.textContent).slice(0, 3)).toEqual(['Answer', 'Charts', 'Findings'])
    expect(doc.querySelector('p.answer')!.textContent).toMatch(/^cpu (avx2|scalar) is fastest in 1 of 2 operations, cpu (avx2|scalar) in 1\.$/)
    expect(doc.body.textContent).toContain('The fastest is unclear in 1 of 2 cases.')
    const cells = Array.from(doc.querySelectorAll('table[aria-label="Fastest by operation"] tbody tr'), (row) => Array.from(row.querySelectorAll('td'), (cell) => cell.textContent))
    expect(cells.map((row) => row.slice(0, 3))).toEqual([['add', 'cpu avx2', '1 of 1'], ['gelu', 'cpu scalar', '1 of 1']])
    const picture = doc.querySelector('figure')!
    expect(picture.querySelector('figcaption')!.textContent).toMatch(/^Speedup over cpu (avx2|scalar) by operation/)
    expect(picture.querySelectorAll('circle, .mark')).toHaveLength(2)
    expect(doc.body.textContent).toContain('The clock is not locked.')
  })

  it('draws an operation with many lines as small multiples on one scale, never all in one plot', () => {
    const results = ['f32', 'bf16', 'f16'].flatMap((dtype) => ['scalar', 'avx2', 'avx512'].flatMap((impl) => ['hot', 'cold'].flatMap((mode) => [1000, 4000].map((n) => measured(`${dtype}${impl}${mode}${n}`, n, n / 10, { case: testCase({ params: { n }, dtype, impl, mode } as never) })))))
    const doc = page(exportSession('html', testSession(results)))
    const plots = Array.from(doc.querySelectorAll('.charts.small figure'))
    const lines = plots.map((plot) => new Set(Array.from(plot.querySelectorAll('circle, .mark'), (dot) => dot.getAttribute('fill'))).size)
    expect(Math.max(...lines)).toBeLessThanOrEqual(6)
    expect(plots.slice(0, 6).map((plot) => plot.querySelector('figcaption')!.textContent)).toEqual(['hot · f32', 'cold · f32', 'hot · bf16', 'cold · bf16', 'hot · f16', 'cold · f16'].sort((a, b) => Number(a.startsWith('cold')) - Number(b.startsWith('cold'))))
    expect(new Set(plots.slice(0, 6).map((plot) => plot.querySelector('svg')!.dataset['y'])).size).toBe(1)
    expect(plots.flatMap((plot) => Array.from(plot.querySelectorAll('circle, .mark')))).toHaveLength(2 * results.length)
  })

  it('tells the series of a plot apart without colour, shows the colours of lines that coincide, and leads to its parts', () => {
    const results = ['add', 'mul'].flatMap((op) => ['scalar', 'sse2', 'avx2'].flatMap((impl) => [1000, 4000, 16_000].map((n) => measured(`${op}${impl}${n}`, n, n / 10, { case: testCase({ op, impl, params: { n } }) }))))
    const doc = page(exportSession('html', testSession(results)))
    const section = doc.querySelectorAll('section.charted')[1]!
    const samples = Array.from(section.querySelectorAll('.legend li svg'), (sample) => sample.innerHTML)
    expect(new Set(samples).size).toBe(3)
    const marks = new Map(Array.from(section.querySelectorAll('figure')[0]!.querySelectorAll('circle, .mark'), (mark) => [mark.getAttribute('fill'), mark.getAttribute('d') ?? 'circle']))
    expect(new Set(marks.values()).size).toBe(3)
    const dashes = Array.from(section.querySelectorAll('figure')[0]!.querySelectorAll('[stroke-dasharray]'), (line) => line.getAttribute('stroke-dasharray'))
    expect(new Set(dashes).size).toBe(2)
    const links = Array.from(doc.querySelectorAll('nav a'), (link) => link.getAttribute('href')!)
    expect(links).toContain('#findings')
    for (const link of links) expect(doc.querySelectorAll(`[id="${link.slice(1)}"]`)).toHaveLength(1)
    const cells = Array.from(doc.querySelectorAll('table[aria-label="Fastest by operation"] tbody tr'), (row) => row.textContent)
    expect(cells[0]).toContain('baseline')
    expect(cells[0]).toMatch(/cpu \w+, as fast/)
  })

  it('text is always text', () => {
    const html = exportSession('html', testSession([measured('a', 1000, 100, { message: ATTACK, case: testCase({ op: ATTACK, impl: ATTACK.slice(0, 40), device: ATTACK }) })], { name: ATTACK, notes: ATTACK, tags: [ATTACK] }))
    const doc = page(html)
    expect(doc.querySelectorAll('img, [onerror], iframe, object, link, a[href]:not([href^="#"]), form')).toHaveLength(0)
    expect(Array.from(doc.querySelectorAll('script'), (script) => script.textContent)).toEqual([SCRIPT])
    expect(doc.querySelector('h1')!.textContent).toBe(ATTACK)
    expect(html).not.toMatch(/<img/i)
    expect(html.match(/<script/gi)).toHaveLength(1)
  })

  it('loads nothing and says so in its policy', () => {
    const html = exportSession('html', testSession())
    const policy = page(html).querySelector('meta[http-equiv="Content-Security-Policy"]')!.getAttribute('content')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain(`script-src 'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'`)
    expect(html.replace("'http://www.w3.org/2000/svg'", '')).not.toMatch(/https?:|url\(|@import|\ssrc=|\shref=(?!"#)/)
  })

  it('never shows NaN or undefined, whatever the session holds', () => {
    for (let seed = 0; seed < 100; seed++) {
      const html = exportSession('html', randomSession(seed))
      expect(html.replace(SCRIPT, '')).not.toMatch(/\b(NaN|undefined)\b|(?<!%)Infinity/)
      expect(html.endsWith('</html>\n')).toBe(true)
    }
    expect(exportSession('html', testSession([]))).toContain('nothing to draw')
  })
})
