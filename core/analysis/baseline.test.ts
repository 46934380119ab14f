import { describe, expect, it } from 'vitest'
import { testCase } from '../testing'
import type { BenchmarkCase } from '../case'
import { Baseline, defaultBaseline } from './baseline'
import { LibraryTimes, RATINGS, summaryOf } from './ratings'

const on = (backend: string, impl: string, device: string, change: Partial<BenchmarkCase> = {}) => testCase({ backend, impl, device, threads: undefined, ...change })
const baselineOf = (key: string, ...cases: BenchmarkCase[]) => {
  const baseline = new Baseline(key)
  cases.forEach((c, index) => baseline.add({ case: c, index, ok: true }))
  return baseline
}

describe('the baseline of a case', () => {
  const torch = baselineOf('python/torch', on('python', 'torch', 'python:cpu'), on('python', 'torch', 'python:cuda:0'), on('python', 'torch', 'python:cuda:1'))
  it('is on the same hardware, else on the same kind of processor', () => {
    expect(torch.of(on('cuda', 'kernel', 'cuda:1'))).toEqual({ ok: true, index: 2 })
    expect(torch.of(on('cpu', 'avx2', 'cpu'))).toEqual({ ok: true, index: 0 })
    expect(torch.of(on('webgpu', 'wgsl', 'webgpu:0')).ok).toBe(true)
  })
  it('is not PyTorch on the other kind of processor, but may be a kernel that exists on one alone', () => {
    expect(baselineOf('python/torch', on('python', 'torch', 'python:cpu')).of(on('cuda', 'kernel', 'cuda:0'))).toMatchObject({ ok: false, reason: expect.stringContaining('another kind') as string })
    expect(baselineOf('cpu/avx2', on('cpu', 'avx2', 'cpu')).of(on('cuda', 'kernel', 'cuda:0'))).toEqual({ ok: true, index: 0 })
  })
  it('is of the same work alone, and says why there is none', () => {
    expect(torch.of(on('cpu', 'avx2', 'cpu', { mode: 'cold' }))).toMatchObject({ ok: false, reason: expect.stringContaining('has not measured') as string })
    expect(torch.of(on('python', 'torch', 'python:cpu'))).toMatchObject({ ok: false, reason: 'This is the baseline itself.' })
  })
})

it('PyTorch eager is the default baseline, else what a device prefers', () => {
  const present = [{ backend: 'cpu', impl: 'scalar' }, { backend: 'cpu', impl: 'avx2' }]
  expect(defaultBaseline([...present, { backend: 'python', impl: 'torch.compile' }, { backend: 'python', impl: 'torch' }], [])).toBe('python/torch')
  expect(defaultBaseline(present, ['cpu/avx2'])).toBe('cpu/avx2')
  expect(defaultBaseline([], [])).toBeUndefined()
})

it('ratings take eager PyTorch of the same hardware before compiled, whatever its device is called', () => {
  const times = new LibraryTimes()
  times.add(on('python', 'torch.compile', 'python:cuda:0'), { medianNs: 50 })
  expect(times.fastestNs(on('cuda', 'kernel', 'cuda:0'), { medianNs: 100 }, 'PyTorch')).toBe(50)
  times.add(on('python', 'torch', 'python:cuda:0'), { medianNs: 80 })
  expect(times.fastestNs(on('cuda', 'kernel', 'cuda:0'), { medianNs: 100 }, 'PyTorch')).toBe(80)
  expect(times.fastestNs(on('cpu', 'avx2', 'cpu'), { medianNs: 100 }, 'PyTorch')).toBeUndefined()
})

it('ratings sum up: the rule of 80 % of Trueno, the words of Genesis', () => {
  const scale = (id: string) => RATINGS.find((one) => one.id === id)!
  const rated = (texts: string[]) => texts.map((text, i) => ({ ok: true as const, text, score: 10 - i }))
  expect(summaryOf(scale('trueno'), rated(['faster', 'within 20 %', 'within 20 %', 'faster', 'slower']))).toBe('4 of 5 (80.0 %) faster than NumPy or at most 20 % slower: success rule (at least 80 %) met')
  expect(summaryOf(scale('trueno'), rated(['faster', 'slower']))).toContain('1 of 2 (50.0 %) faster than NumPy or at most 20 % slower: success rule (at least 80 %) not met')
  expect(summaryOf(scale('genesis'), rated(['excellent', 'excellent', 'fair']))).toBe('2 excellent, 1 fair')
  expect(summaryOf(scale('genesis'), [{ ok: false, reason: 'x' }])).toBeUndefined()
})
