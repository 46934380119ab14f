import { describe, expect, it } from 'vitest'
import { testCase } from '../../testing'
import type { BenchmarkCase } from '../../case'
import { LibraryTimes, RATINGS, type RatingSubject } from './index'
import { libraryOf } from './libraries'

const rate = (id: string, change: Partial<RatingSubject> & { against?: Partial<Record<'PyTorch' | 'NumPy', number>> } = {}) => {
  const { against = {}, ...subject } = change
  const rating = RATINGS.find((scale) => scale.id === id)!.rate({ case: testCase(), medianNs: 100, efficiency: undefined, bandwidthShare: undefined, fastestNs: (library) => against[library], ...subject })
  return rating.ok ? rating.text : `– ${rating.reason}`
}

it('has the ratings of the five suites', () => {
  expect(RATINGS.map(({ id }) => id).sort()).toEqual(['comprehensive', 'genesis', 'performance-guide', 'tenflowers', 'trueno'])
})

it('no rating without what it is measured by, and a reason instead', () => {
  for (const scale of RATINGS) {
    const rating = scale.rate({ case: testCase({ device: 'cuda:0' }), medianNs: 100, efficiency: undefined, bandwidthShare: undefined, fastestNs: () => undefined })
    expect(rating).toEqual({ ok: false, reason: expect.stringMatching(/ (PyTorch|NumPy|ceilings) .*\.$/) as string })
  }
})

describe('libraries', () => {
  it('are known by the names that backends and files give them', () => {
    expect(['pytorch', 'PyTorch', 'torch-compile', 'numpy', 'avx2', 'storch'].map((impl) => libraryOf({ impl }))).toEqual(['PyTorch', 'PyTorch', 'PyTorch', 'NumPy', undefined, undefined])
  })

  it('are compared on the same work alone, by their fastest time', () => {
    const times = new LibraryTimes()
    const torch = (change: Partial<BenchmarkCase>) => testCase({ impl: 'pytorch', backend: 'trueno', threads: undefined, ...change })
    times.add(torch({}), { medianNs: 300 })
    times.add(torch({ backend: 'other' }), { medianNs: 200 })
    times.add(torch({ params: { n: 5 } }), { medianNs: 1 })
    times.add(torch({ mode: 'cold' }), { medianNs: 2 })
    times.add(torch({ device: 'cuda:0' }), { medianNs: 3 })
    times.add(testCase(), { medianNs: 4 })
    expect(times.fastestNs(testCase(), { medianNs: 100 }, 'PyTorch')).toBe(200)
    expect(times.fastestNs(testCase(), { medianNs: 100 }, 'NumPy')).toBeUndefined()
  })

  it('measured in the same interleaved rounds as a result are rated by these, not by medians', () => {
    const times = new LibraryTimes()
    const torch = testCase({ impl: 'torch', backend: 'python', threads: undefined })
    const rounds = (group: number, ns: number) => [{ group, passes: [{ first: 0, ns, rounds: 4, interrupted: false, clean: [], cleanNs: [] }] }]
    times.add(torch, { medianNs: 1000, rounds: rounds(7, 20) })
    const mine = (group: number) => times.fastestNs(testCase(), { medianNs: 100, rounds: rounds(group, 40) }, 'PyTorch')
    expect([mine(7), mine(8)]).toEqual([50, 1000])
  })
})

describe('suites', () => {
  it('Genesis: words by the speedup over PyTorch', () => {
    expect([100, 80, 79, 50, 49, 20, 19].map((pytorch) => rate('genesis', { against: { PyTorch: pytorch } }))).toEqual(['excellent', 'excellent', 'good', 'good', 'fair', 'fair', 'needs work'])
    expect(rate('genesis', { case: testCase({ impl: 'pytorch' }), against: { PyTorch: 100 } })).toBe('– This is PyTorch, which others are rated against.')
  })

  it('performance guide: minimum and target of each size class', () => {
    const at = (n: number, share: number) => rate('performance-guide', { case: testCase({ params: { n } }), bandwidthShare: share })
    expect([at(262_144, 0.25), at(262_144, 0.15), at(262_144, 0.14)]).toEqual(['target met (25 %, small sizes)', 'minimum met (15 %, small sizes)', 'below minimum (15 %, small sizes)'])
    expect([at(4_194_304, 0.39), at(16_777_216, 0.3), at(67_108_864, 0.3)]).toEqual(['minimum met (25 %, medium sizes)', 'target met (30 %, large sizes)', 'target met (25 %, xlarge sizes)'])
    expect(rate('performance-guide', { case: testCase({ op: 'matmul', params: { m: 8, n: 8, k: 8 } }), bandwidthShare: 1 })).toContain('element-wise')
  })

  it('TenfloweRS: either target counts, and what is not known is not held against a result', () => {
    expect(rate('tenflowers', { against: { PyTorch: 50 } })).toBe('within 2x')
    expect(rate('tenflowers', { against: { PyTorch: 49 }, bandwidthShare: 0.5 })).toBe('missed')
    expect(rate('tenflowers', { against: { PyTorch: 49 }, bandwidthShare: 0.9 })).toBe('90 % of bandwidth')
    expect(rate('tenflowers', { bandwidthShare: 0.95 })).toBe('90 % of bandwidth')
    expect(rate('tenflowers', { bandwidthShare: 0.5 })).toBe('below 90 % of bandwidth, no PyTorch')
    expect(rate('tenflowers', {})).toContain('no valid result of PyTorch')
    expect(rate('tenflowers', { against: { PyTorch: 100 }, bandwidthShare: 0.95 })).toBe('within 2x, 90 % of bandwidth')
  })

  it('Trueno: within 20 % of NumPy', () => {
    expect([101, 100, 84, 83].map((numpy) => rate('trueno', { against: { NumPy: numpy } }))).toEqual(['faster', 'within 20 %', 'within 20 %', 'slower'])
  })

  it('comprehensive: percent of the ceiling on GPUs, never above 100', () => {
    const on = (device: string, efficiency: number) => rate('comprehensive', { case: testCase({ device }), efficiency })
    expect([on('cuda:0', 0.874), on('cuda:0', 1.3), on('cuda:0', 0.052)]).toEqual(['87', '100', '5.2'])
    expect(on('cpu', 0.5)).toContain('processor')
  })
})
