import { describe, expect, it } from 'vitest'
import type { SweepSpec } from '../session/sweep-spec'
import type { Plan, Skipped } from './plan'
import { summarizeSweep } from './summary'

const spec: SweepSpec = {
  ops: [{ op: 'add' }, { op: 'softmax' }],
  sizes: { vector: '2^10..2^18 x4', matrix: '2^10..2^18 x4' },
  dtypes: ['f32', 'bf16'],
  targets: [{ backend: 'cuda', device: 'cuda:0', impls: ['kernel', 'cublas'] }, { backend: 'cpu', device: 'cpu', impls: ['avx2'], threads: [8] }],
  modes: ['cold', 'hot'],
  preset: 'standard',
}
const cases = (count: number) => Array.from({ length: count }, (_, n) => ({ op: 'add', params: { n }, dtype: 'f32', backend: 'cpu', impl: 'avx2', device: 'cpu', mode: 'hot' }) as const)
const skipped = (reason: string, count: number, op = 'add'): Skipped => ({ op, backend: 'cpu', device: 'cpu', impl: 'avx2', dtype: 'bf16', reason, count, example: `${op} example` })
const plan = (count: number, left: Skipped[] = []): Plan => ({ cases: cases(count), skipped: left, problems: [] })

describe('a sweep in words', () => {
  it('multiplies what is picked, and says what that comes to', () => {
    expect(summarizeSweep(spec, plan(720, [skipped('no bf16', 36)]), 540).text).toBe('2 operations × 5 sizes × f32, bf16 × 3 implementations, cold and hot: 720 cases, about 9 min, 36 left out')
    expect(summarizeSweep(spec, plan(720), 540, 'noise floor 3.10 %')).toMatchObject({ text: expect.stringContaining('720 cases, in interleaved rounds (noisy host: noise floor 3.10 %), about 9 min'), how: 'in interleaved rounds (noisy host: noise floor 3.10 %)' })
  })

  it('says one of a thing in the singular, and leaves out what nothing is left out of', () => {
    const one: SweepSpec = { ...spec, ops: [{ op: 'add' }], sizes: { vector: '64' }, dtypes: ['f32'], targets: spec.targets.slice(1), modes: ['hot'] }
    expect(summarizeSweep(one, plan(1), 2).text).toBe('1 operation × 1 size × f32 × 1 implementation, hot: 1 case, about 2 s')
  })

  it('says the range where operations have different numbers of sizes, by their form or of their own', () => {
    expect(summarizeSweep({ ...spec, sizes: { ...spec.sizes, matrix: '64, 128' } }, plan(1), 1).picks).toContain('× 2 to 5 sizes ×')
    expect(summarizeSweep({ ...spec, ops: [{ op: 'add', sizes: '1, 2, 3' }, { op: 'softmax' }] }, plan(1), 1).picks).toContain('× 3 to 5 sizes ×')
    expect(summarizeSweep({ ...spec, sizes: { vector: '1..', matrix: '' } }, plan(0), 0).picks).toBe('2 operations × f32, bf16 × 3 implementations, cold and hot')
  })

  it('counts variants, several thread counts and repeats', () => {
    const more: SweepSpec = { ...spec, ops: [{ op: 'sum', attributes: { axis: ['all', 'last', 'first'] } }, { op: 'add' }], targets: [{ ...spec.targets[1]!, threads: [8, 1, 2] }], repeats: 3 }
    expect(summarizeSweep(more, plan(12), 60).text).toBe('2 operations (4 variants) × 5 sizes × f32, bf16 × 1 implementation × 1, 2 and 8 threads, cold and hot: 12 cases, 3 times, about 1 min')
  })

  it('gives each reason once, the most cases first, with an example', () => {
    const { reasons, leftOut } = summarizeSweep(spec, plan(4, [skipped('too large', 2), skipped('no bf16', 3), skipped('no bf16', 4, 'softmax')]), 1)
    expect(leftOut).toBe(9)
    expect(reasons).toEqual([{ reason: 'no bf16', count: 7, example: 'add example' }, { reason: 'too large', count: 2, example: 'add example' }])
  })

  it('has words for nothing', () => {
    expect(summarizeSweep({ ...spec, ops: [], dtypes: [], targets: [], modes: [] }, plan(0), 0).text).toBe('0 cases')
  })
})
