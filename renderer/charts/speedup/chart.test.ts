import { describe, expect, it, test } from 'vitest'
import { renderSvg } from '../drawing/page/echarts'
import { chartTheme } from '../drawing/theme/theme'
import type { ChartPoint } from '../data/points'
import { chartPoint, drawOf } from '../testing'
import { factorAxis } from '../drawing/option/factor-axis'
import chart, { chooseBars, MAX_BARS, speedupOption, barLooks } from './chart'
import { baselineControl, speedups } from './pairs'

const theme = chartTheme('light')
const none = new Set<string>()
const points = [
  chartPoint({ impl: 'scalar' }, 400), chartPoint({ impl: 'avx2' }, 100), chartPoint({ impl: 'scalar', n: 64 }, 20), chartPoint({ impl: 'avx2', n: 64 }, 40),
  chartPoint({ backend: 'cuda', impl: 'kernel', device: 'cuda:0', threads: undefined }, 50),
]
const source = { all: points, points, others: [] }

it('says where its intervals come from', () => {
  const rounds = (ns: number) => ({ rounds: [{ group: 1, passes: [0, 8, 16, 24, 32, 40].map((first) => ({ first, ns, rounds: 8, interrupted: false, clean: [], cleanNs: [] })) }] })
  const paired = [{ ...chartPoint({ impl: 'scalar' }, 400), ...rounds(400) }, { ...chartPoint({ impl: 'avx2' }, 100), ...rounds(100) }]
  const noteOf = (of: readonly ChartPoint[]) => drawOf(chart, of).note!.text
  expect(noteOf(points.slice(0, 2))).toBe('Geometric means; intervals from those of the medians')
  expect(noteOf(points.slice(0, 2).map(({ ciLowNs: _low, ciHighNs: _high, ...point }) => point))).toBe('Geometric means; too few rounds or samples for intervals')
  expect(noteOf(paired)).toBe('Geometric means; intervals from interleaved rounds')
  expect(noteOf([...paired, ...points.slice(2, 4)])).toBe('Geometric means; intervals from rounds, else from the medians')
})

describe('speedups', () => {
  it('set every result beside the baseline of the same case, and the baseline beside nothing', () => {
    expect(speedups(source, 'cpu scalar').map((one) => [one.variant.title, one.point.case.params['n'], one.ratio])).toEqual([['cpu avx2', 1024, 4], ['cpu avx2', 64, 0.5], ['cuda kernel', 1024, 8]])
    expect(speedups(source, 'cpu avx2').map((one) => one.ratio)).toEqual([0.25, 2, 2])
  })
  it('find the baseline though the focus leaves it out', () => {
    expect(speedups({ ...source, points: points.slice(4) }, 'cpu scalar').map((one) => one.ratio)).toEqual([8])
  })
  it('can be against another session, by the same case', () => {
    const other = { id: 'before', name: 'Before', points: [chartPoint({ impl: 'avx2' }, 150)], roofs: [], datasheets: [] }
    expect(baselineControl({ all: points, others: [other] }).options.map(({ title }) => title)).toEqual(['over Before', 'over cpu scalar (automatic)', 'over cpu scalar', 'over cpu avx2', 'over cuda kernel'])
    expect(speedups({ ...source, others: [other] }, 'session:before').map((one) => [one.variant.title, one.ratio])).toEqual([['cpu avx2', 1.5]])
  })
  it('count a repeated case once, by its last result', () => {
    const again = { ...points[1]!, id: 'again', medianNs: 200 }
    expect(speedups({ all: [...points, again], points: [...points, again], others: [] }, 'cpu scalar').filter((one) => one.variant.title === 'cpu avx2').map((one) => one.ratio)).toContain(2)
  })
})

describe('PyTorch', () => {
  const torch = (device: string, threads: number | undefined, ns: number) => chartPoint({ backend: 'python', impl: 'torch', device, threads }, ns)
  const avx2 = (threads: number, ns: number) => chartPoint({ threads }, ns)
  it('is the baseline where nobody has chosen one, compiled or not', () => {
    const compiled = chartPoint({ backend: 'python', impl: 'torch.compile', device: 'python:cpu' }, 90)
    const chosen = (all: ChartPoint[]) => {
      const { options, preferred } = baselineControl({ all, others: [] })
      return options.find(({ value }) => value === preferred)?.title
    }
    expect(chosen([avx2(1, 100), compiled, torch('python:cpu', 1, 120)])).toBe('over PyTorch (automatic)')
    expect(chosen([avx2(1, 100), compiled])).toBe('over cpu avx2 (automatic)')
    expect(drawOf(chart, [avx2(1, 100), torch('python:cpu', 1, 120)]).csv()).toContain('cpu avx2,python torch,1.2,')
  })
  it('measured on several devices and with several threads is compared like for like', () => {
    const all = [avx2(1, 100), avx2(2, 50), points[4]!, torch('python:cpu', 1, 120), torch('python:cpu', 2, 80), torch('python:cuda:0', undefined, 75)]
    const { preferred } = baselineControl({ all, others: [] })
    expect(preferred).toBe('auto')
    for (const baseline of ['auto', 'like:python/torch']) expect(speedups({ all, points: all, others: [] }, baseline).map((one) => [one.variant.title, one.ratio])).toEqual([['cpu avx2 1 thread', 1.2], ['cpu avx2 2 threads', 1.6], ['cuda kernel', 1.5]])
  })
})

describe('each kind of processor', () => {
  const gpu = (backend: string, impl: string, ns: number) => chartPoint({ backend, impl, device: `${backend}:0`, threads: undefined }, ns)
  const all = [chartPoint({ impl: 'scalar' }, 800), chartPoint({ impl: 'avx2' }, 100), gpu('cuda', 'kernel', 10), gpu('webgpu', 'wgsl', 20)]
  it('has a baseline of its own where the user has not chosen one, as in the table and in its words', () => {
    expect(baselineControl({ all, others: [] }).options.map(({ title }) => title)).toEqual(['over GPU cuda kernel, CPU cpu scalar (automatic)', 'over cpu scalar', 'over cpu avx2', 'over cuda kernel', 'over webgpu wgsl'])
    expect(speedups({ all, points: all, others: [] }, 'auto').map((one) => [one.variant.title, one.baseTitle, one.ratio])).toEqual([['cpu avx2', 'cpu scalar', 8], ['webgpu wgsl', 'cuda kernel', 0.5]])
    expect(speedups({ all, points: all, others: [] }, 'cpu scalar').map((one) => one.ratio)).toEqual([8, 80, 40])
    expect(drawOf(chart, [], { all }).empty).toMatch(/^No case is left/)
    expect(drawOf(chart, [all[0]!], { all }).empty).toMatch(/^Only the baseline itself is shown/)
  })
  it('is not compared with what a library took on the other one', () => {
    const torch = chartPoint({ backend: 'python', impl: 'torch', device: 'python:cpu', threads: 1 }, 50)
    expect(speedups({ all: [...all, torch], points: all, others: [] }, 'python torch').map((one) => one.variant.title)).toEqual(['cpu scalar', 'cpu avx2'])
  })
})

describe('looks', () => {
  it('differ between variants of one implementation, which keep its colour', () => {
    const variants = [1, 2, 4, 8].map(() => ({ backend: 'cpu', impl: 'avx2', device: 'cpu' }))
    const looks = barLooks([...variants, { backend: 'python', impl: 'torch', device: 'python:0' }], theme)
    expect(new Set(looks.slice(0, 4).map((look) => look.border))).toEqual(new Set([theme.colorOf('cpu', 'avx2')]))
    expect(new Set(looks.map((look) => look.fill)).size).toBe(5)
    expect(new Set(looks.slice(0, 4).map((look) => String(look.dash))).size).toBe(4)
    expect(looks[0]!.fill).toBe(theme.colorOf('cpu', 'avx2'))
  })
})

describe('bars', () => {
  const found = speedups(source, 'cpu scalar')
  it('are sorted by effect, or stand by operation and size', () => {
    expect(chooseBars(found, 'effect').map((one) => one.ratio)).toEqual([8, 4, 0.5])
    expect(chooseBars(found, 'operation').map((one) => one.ratio)).toEqual([0.5, 4, 8])
  })
  it('of too many show both ends, while the mean is of all', () => {
    const many = Array.from({ length: 500 }, (_, i) => ({ ...found[0]!, ratio: 1.01 ** i, point: { ...found[0]!.point, id: `p${i}` } }))
    const bars = chooseBars(many, 'effect')
    expect(bars).toHaveLength(MAX_BARS)
    expect([bars[0]!.ratio, bars.at(-1)!.ratio]).toEqual([1.01 ** 499, 1])
    expect(speedupOption(many, 'effect', theme, none, 900)!.legend.data[0]).toContain('of 500')
  })
  it('carry intervals and result, and name the geometric mean with the cases behind it', () => {
    const option = speedupOption(found, 'effect', theme, none, 900)!
    const [ratio, row, low, high, id] = option.series[0]!.data[0]!
    expect([ratio, row, id]).toEqual([4, 1, points[1]!.id])
    expect(low).toBeLessThan(4)
    expect(high).toBeGreaterThan(4)
    expect(option.legend.data[0]).toBe('cpu avx2: mean 1.414x of 2')
    expect(option.series[0]!.markLine.data.map((line) => line.xAxis)).toEqual([1, expect.closeTo(Math.SQRT2, 9)])
  })
  it('are not made tiny by an interval that says nothing', () => {
    const vague = { ...found[0]!, low: 1e-5, high: 1e6 }
    const { min, max } = speedupOption([vague, found[1]!], 'effect', theme, none, 900)!.xAxis
    expect([min, max]).toEqual([0.1, 20])
  })
  it('become a picture that grows with them', () => {
    const { option, height } = drawOf(chart, points)
    expect(renderSvg(option!, 900, height!)).toContain(': mean ')
    expect(drawOf(chart, points.slice(1, 2)).empty).toContain('only cpu avx2')
  })
})

describe('the axis', () => {
  it('holds 1x and ends on round factors', () => {
    const wide = factorAxis([0.3, 42])
    expect(wide.max).toBe(50)
    expect(1 / wide.min).toBeCloseTo(5, 9)
    expect(wide.ticks).toContain(1)
    expect(factorAxis([1.01]).ticks).toEqual([1 / 1.1, 1, 1.1])
  })
})

test('a legend of three rows ends above the labels of the axis', () => {
  const impls = ['scalar', 'sse2', 'avx2', 'avx512', 'openblas', 'onednn', 'numpy']
  const all = impls.flatMap((impl, i) => [1, 2].map((threads) => chartPoint({ impl, threads }, 400 / (i + threads))))
  const svg = renderSvg(speedupOption(speedups({ all, points: all, others: [] }, 'like:cpu/scalar'), 'effect', theme, none, 1290)!, 1290, 300)
  const texts = [...svg.matchAll(/<text([^>]*)>([^<]*)<\/text>/g)].map(([, attributes, text]) => ({ text: text!, y: [/ y="([\d.]+)"/, /translate\([\d.]+ ([\d.]+)\)/].reduce((sum, place) => sum + Number(place.exec(attributes!)?.[1] ?? 0), 0) }))
  const legend = texts.filter(({ text }) => text.includes(': mean')).map(({ y }) => y)
  const ticks = texts.filter(({ text }) => /^[\d.]+x$/.test(text)).map(({ y }) => y)
  expect(new Set(legend).size).toBe(3)
  expect(ticks.length).toBeGreaterThan(2)
  expect(Math.max(...legend) + 10).toBeLessThanOrEqual(Math.min(...ticks))
})
