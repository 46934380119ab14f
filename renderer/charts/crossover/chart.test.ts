import { init } from 'echarts/core'
import { describe, expect, it } from 'vitest'
import { renderSvg } from '../drawing/page/echarts'
import { chartPoint, drawOf } from '../testing'
import chart, { findCrossovers, crossoverCsv, sentenceOf } from './chart'

const SIZES = [64, 128, 256, 512, 1024]
const line = (impl: string, ns: (n: number) => number, over: Parameters<typeof chartPoint>[0] = {}) => SIZES.map((n) => chartPoint({ n, impl, ...over }, ns(n)))
/** 10 n^0.5 meets n at 100. */
const points = [...line('scalar', (n) => n), ...line('avx2', (n) => 10 * Math.sqrt(n))]

describe('crossovers of a session', () => {
  it('are found and told in a sentence', () => {
    const { found, pairs } = findCrossovers(points)
    expect(pairs).toBe(1)
    expect(found.map((one) => one.what)).toEqual(['add f32 hot'])
    expect(sentenceOf(found[0]!)).toMatch(/^cpu avx2 beats cpu scalar from 100 \(9\d\.?\d* to 10\d\) elements$/)
    expect(found[0]!.point.case).toMatchObject({ impl: 'avx2', params: { n: 128 } })
  })
  it('are not between thread counts of the same code, nor across operations', () => {
    expect(findCrossovers([...line('avx2', (n) => n), ...line('avx2', (n) => 10 * Math.sqrt(n), { threads: 8 })]).pairs).toBe(0)
    expect(findCrossovers([...line('scalar', (n) => n), ...line('avx2', (n) => 10 * Math.sqrt(n), { op: 'mul' })]).pairs).toBe(0)
  })
  it('can be asked of one implementation', () => {
    const more = [...points, ...line('kernel', (n) => 30 + n / 10, { backend: 'cuda', device: 'cuda:0', threads: undefined })]
    expect(findCrossovers(more).pairs).toBe(3)
    expect(findCrossovers(more, 'cuda kernel').pairs).toBe(2)
  })
  it('stand in the picture and in the data', () => {
    expect(renderSvg(drawOf(chart, points).option!, 900, 300)).toContain('beats cpu scalar from 100')
    expect(crossoverCsv(findCrossovers(points).found).split('\n')[1]).toMatch(/^add f32 hot,cpu scalar,cpu avx2,(100|99\.9+|100\.0+)/)
  })
  it('keep their marks at the ends of their bands when the plot gets narrower', () => {
    const { option } = drawOf(chart, points)
    const resized = init(null, null, { renderer: 'svg', ssr: true, width: 900, height: 300 })
    resized.setOption(option!)
    resized.resize({ width: 500, height: 300 })
    const pathsOf = (svg: string) => [...svg.matchAll(/<path[^>]*>/g)].map(([path]) => path.replaceAll(/ (class|id|clip-path)="[^"]*"/g, ''))
    const paths = pathsOf(resized.renderToSVGString())
    resized.dispose()
    expect(paths).toEqual(pathsOf(renderSvg(option!, 500, 300)))
  })
  it('say when one is faster throughout', () => {
    expect(drawOf(chart, [...line('scalar', (n) => n), ...line('avx2', (n) => n / 2)]).empty).toContain('stays so over all sizes')
  })
  it('are counted as unclear where medians change order within their intervals', () => {
    const noise = [...line('scalar', (n) => n), ...line('avx2', (n) => (n > 200 ? 1.004 : 0.996) * n)]
    expect(findCrossovers(noise)).toMatchObject({ found: [], pairs: 1, unclear: 1 })
    expect(drawOf(chart, noise).empty).toContain('in 1 the medians change order within their CIs')
    expect(drawOf(chart, [...points, ...line('avx2', (n) => n, { op: 'mul' }), ...line('scalar', (n) => (n > 200 ? 1.004 : 0.996) * n, { op: 'mul' })]).note?.text).toBe('1 crossover in 2 pairs, 1 unclear')
  })
})
