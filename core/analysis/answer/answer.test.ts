import { describe, expect, it } from 'vitest'
import { testCase, testSession } from '../../testing'
import type { BenchmarkCase } from '../../case'
import { sessionAnswer, type AnswerPoint } from './answer'
import { answerSentences } from './words'

const point = (change: Partial<BenchmarkCase>, medianNs: number, half = 0.002, grade: 'A' | 'B' | 'C' = 'A'): AnswerPoint => ({ case: testCase(change), medianNs, ciLowNs: medianNs * (1 - half), ciHighNs: medianNs * (1 + half), grade })
const cuda = (op: string, n: number, ns: number, half?: number) => point({ op, params: { n }, backend: 'cuda', impl: 'kernel', device: 'cuda:0', threads: undefined as never }, ns, half)
const wgsl = (op: string, n: number, ns: number, half?: number) => point({ op, params: { n }, backend: 'webgpu', impl: 'wgsl', device: 'webgpu:0', threads: undefined as never }, ns, half)
const torch = (op: string, n: number, ns: number, half?: number) => point({ op, params: { n }, backend: 'python', impl: 'torch', device: 'python:cuda:0', threads: undefined as never }, ns, half)

/** Eight passes of a result that takes `ratio` times 100 ns, and 0.5 % more or less. */
const passes = (group: number, ratio: number) => [{ group, passes: Array.from({ length: 8 }, (_, i) => ({ first: 2 * i, ns: 100 * ratio * (1 + 0.005 * Math.sin(i / ratio)), rounds: 2, interrupted: false, clean: [], cleanNs: [] })) }]

describe('the answer of a session', () => {
  it('names the fastest implementation per operation with its share of the cases', () => {
    const { processors: [gpu] } = sessionAnswer([cuda('add', 64, 100), wgsl('add', 64, 200), cuda('add', 128, 300), wgsl('add', 128, 200), cuda('add', 256, 100), wgsl('add', 256, 300), cuda('gelu', 64, 300), wgsl('gelu', 64, 100)], undefined)
    expect(gpu!.operations).toMatchObject([{ op: 'add', fastest: { backend: 'cuda' }, wins: 2, cases: 3 }, { op: 'gelu', fastest: { backend: 'webgpu' }, wins: 1, cases: 1 }])
    expect(gpu).toMatchObject({ cases: 4, unclear: 0, same: 0 })
  })

  it('takes PyTorch as the baseline, and another where the user has chosen one', () => {
    const points = [cuda('add', 64, 100), torch('add', 64, 150), wgsl('add', 64, 300)]
    const [gpu] = sessionAnswer(points, undefined).processors
    expect(gpu!.baseline).toEqual({ backend: 'python', impl: 'torch' })
    expect(gpu!.means.map(({ implementation, ratio }) => [implementation.backend, ratio])).toEqual([['cuda', 1.5], ['webgpu', 0.5]])
    expect(gpu!.operations[0]!.overBaseline!.ratio).toBe(1.5)
    expect(sessionAnswer(points, undefined, 'cuda/kernel').processors[0]!.baseline).toEqual({ backend: 'cuda', impl: 'kernel' })
    expect(sessionAnswer(points, undefined, 'cpu/avx2').processors[0]!.baseline).toEqual({ backend: 'python', impl: 'torch' })
  })

  it('counts what the intervals leave open, and what is equal, apart from what is decided', () => {
    const [gpu] = sessionAnswer([cuda('add', 64, 100), wgsl('add', 64, 150), cuda('add', 128, 100, 0.2), wgsl('add', 128, 105, 0.2), cuda('add', 256, 100), wgsl('add', 256, 100.2)], undefined).processors
    expect(gpu).toMatchObject({ cases: 3, unclear: 1, same: 1 })
    expect(gpu!.means[0]!.counts).toEqual({ faster: 0, slower: 1, same: 1, ambiguous: 1 })
  })

  it('keeps processors apart, and leaves out what one implementation alone measured', () => {
    const cpu = (impl: string, threads: number, ns: number) => point({ op: 'add', params: { n: 64 }, impl, threads }, ns)
    const answer = sessionAnswer([cuda('add', 64, 1), wgsl('add', 64, 2), cuda('sum', 64, 1), cpu('scalar', 1, 400), cpu('avx2', 1, 100), cpu('avx2', 4, 50)], undefined)
    expect(answer.processors.map(({ processor, cases }) => [processor, cases])).toEqual([['gpu', 1], ['cpu', 1]])
    // Of several thread counts the fastest stands for the implementation.
    expect(answer.processors[1]!.means.map(({ ratio }) => Math.max(ratio, 1 / ratio).toFixed(3))).toEqual(['8.000'])
  })

  it('counts a repeated case once, by its last result', () => {
    const [gpu] = sessionAnswer([cuda('add', 64, 100), wgsl('add', 64, 200), cuda('add', 64, 400)], undefined).processors
    expect(gpu!.operations).toMatchObject([{ fastest: { backend: 'webgpu' }, wins: 1, cases: 1 }])
  })
})

describe('the answer in sentences', () => {
  it('says what is fastest, by how much, what is unclear and how noisy the machine was', () => {
    const floor = { backend: 'cuda', device: 'cuda:0', deviceName: 'GPU', measuredAt: '', pairs: 24, falseVerdicts: 0, ratioP50: 0.001, ratioP95: 0.006, sessionId: 's' }
    const { environment } = testSession()
    const sentences = answerSentences(sessionAnswer([cuda('add', 64, 100), torch('add', 64, 150), cuda('add', 128, 100, 0.3), torch('add', 128, 105, 0.3)], { ...environment, noiseFloors: [floor, { ...floor, device: 'cuda:7', ratioP95: 0.5 }] }))
    expect(sentences[0]).toBe('cuda kernel is fastest in 1 of 1 operation.')
    expect(sentences[1]).toMatch(/^cuda kernel is 1\.25x faster than python torch \(geometric mean over 2 cases, 95 % CI .*\)\.$/)
    expect(sentences[2]).toBe('The fastest is unclear in 1 of 2 cases.')
    expect(sentences[3]).toMatch(/^Noise floor 0\.60 %; grades: 4 A/)
  })

  it('says first of a noisy host that speedups hold and times do not, and takes them from paired rounds', () => {
    const rounds = (impl: string, n: number, ns: number, ratio: number) => ({ ...point({ op: 'add', params: { n }, impl }, ns, 0.2, 'C'), rounds: passes(n, ratio) })
    const sentences = answerSentences(sessionAnswer([rounds('scalar', 1, 400, 1), rounds('avx2', 1, 90, 0.25), rounds('scalar', 2, 500, 1), rounds('avx2', 2, 110, 0.25)], undefined))
    expect(sentences[0]).toMatch(/^Noisy host: compare speedups, not times\. 4 of 4 times are graded B or C/)
    expect(sentences[2]).toMatch(/is 4\.00x faster than .*geometric mean over 2 cases, 95 % CI 3\.9\dx to 4\.0\dx/)
    const alone = [1, 2].flatMap((n) => [point({ op: 'add', params: { n }, impl: 'scalar' }, 400, 0.2, 'C'), point({ op: 'add', params: { n }, impl: 'avx2' }, 100, 0.2, 'A')])
    expect(answerSentences(sessionAnswer(alone, undefined))[0]).toMatch(/^Noisy host: measure in interleaved rounds to compare implementations\. 2 of 4 times on the CPU are graded C/)
    expect(answerSentences(sessionAnswer(alone.filter(({ case: c }) => c.impl === 'scalar'), undefined))[0]).not.toMatch(/Noisy/)
    expect(answerSentences(sessionAnswer([1, 2].flatMap((n) => [rounds('scalar', n, 400, 1), rounds('avx2', n, 100, 0.25)]).map((one) => ({ ...one, grade: 'A' })), undefined))[0]).not.toMatch(/Noisy/)
  })

  it('says where the implementations it compares had different numbers of threads', () => {
    const [one, two] = [point({ op: 'add', params: { n: 1 }, impl: 'avx2', threads: 1 }, 100), point({ op: 'add', params: { n: 1 }, impl: 'scalar', threads: 2 }, 150)]
    expect(answerSentences(sessionAnswer([one, two], undefined))[1]).toMatch(/; thread counts differ\)\.$/)
    expect(answerSentences(sessionAnswer([one, { ...two, case: { ...two.case, threads: 1 } }], undefined))[1]).not.toContain('thread')
  })

  it('calls the fastest by the rounds that speedups come from, not by the medians beside them', () => {
    const rounds = (impl: string, ns: number, ratio: number) => ({ ...point({ op: 'add', params: { n: 1 }, impl }, ns, 0.2, 'C'), rounds: passes(1, ratio) })
    // The median of avx512 was taken while the host was busy.
    const [own] = sessionAnswer([rounds('scalar', 400, 1), rounds('avx2', 100, 0.25), rounds('avx512', 130, 0.2)], undefined).processors
    expect(own!.operations[0]!.fastest.impl).toBe('avx512')
    expect(own!.means[0]!.implementation.impl).toBe('avx512')
  })

  it('says that there is nothing to compare, and says nothing of an empty session', () => {
    expect(answerSentences(sessionAnswer([cuda('add', 64, 100)], undefined))[0]).toBe('Only cuda kernel was measured: there is nothing to compare it with.')
    expect(answerSentences(sessionAnswer([cuda('add', 64, 100), wgsl('add', 128, 100)], undefined))[0]).toBe('No case was measured by two of cuda kernel, webgpu wgsl.')
    expect(answerSentences(sessionAnswer([], undefined))).toEqual([])
  })
})
