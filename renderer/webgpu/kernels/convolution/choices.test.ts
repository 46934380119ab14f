import { describe, expect, it } from 'vitest'
import { THREADS } from '../../wgsl/header'
import { KERNELS } from '../registry'
import type { Program } from '../types'

const build = (op: string, dims: readonly number[]): Program => KERNELS.get(op)!.build({ dtype: 'f32', dims, scalars: [] })

describe('convolutions', () => {
  const line = (batch: number, channels: number, filters: number, kernel: number, length: number) =>
    build('conv1d', [batch, channels, filters, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, length, kernel, 0, length - kernel + 1]).steps[0]!
  it('of few filters, few terms or few tiles are sums of threads that share what they read', () => {
    for (const one of [line(4, 64, 3, 3, 1000), line(4, 2, 200, 2, 1000), line(9, 128, 56, 3, 12)]) expect(one.wgsl).not.toContain('tile_a')
    expect(line(64, 64, 64, 3, 4096).wgsl).toContain('tile_a')
    // A thread has up to 24 filters.
    expect([24, 25].map((filters) => line(64, 64, filters, 3, 4096).wgsl.includes('tile_a'))).toEqual([false, true])
    expect([line(64, 64, 25, 3, 4096), line(64, 64, 33, 3, 4096)].map(({ wgsl }) => /@workgroup_size\((\d+)\)/.exec(wgsl)![1])).toEqual(['128', '160'])
  })
  it('of planes that would leave tiles empty take the outputs of all images beside each other', () => {
    const one = line(32769, 14, 33, 5, 5)
    expect(one.wgsl).toContain('tile_a')
    expect(one.groups).toBe(Math.ceil(32769 / 128))
    // A few tiles with long sums share them, and put the outputs back to their images.
    const long = build('conv1d', [64, 50_000, 63, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1])
    expect(long.steps[0]!.groups).toBe(261)
    expect(long.steps.at(-1)!.buffers).toEqual([{ scratch: 0 }, 'output'])
    // Whole tiles stay with their image.
    expect(line(64, 64, 64, 3, 4098).dims[1]).toBe(4096)
  })
  it('have as many workgroups as fill a device where sums are long, and no idle threads where they are short', () => {
    // 64 positions and 8 filters, two at a time of each, and four parts of their sums, which the last of four workgroups joins.
    const split = build('conv1d', [1, 4096, 8, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 66, 3, 0, 64])
    expect(split.steps.map((one) => one.groups)).toEqual([128 * 4])
    expect(split.scratchBytes).toEqual([4 * (128 * 4 * 4 + 128)])
    expect(line(1000, 2, 8, 2, 2).groups).toBe(Math.ceil(8000 / THREADS))
  })
})
