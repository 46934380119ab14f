import { describe, expect, it } from 'vitest'
import { THREADS } from '../../wgsl/header'
import { KERNELS } from '../registry'
import { sharedBy } from './parts'

const build = (op: string, dims: readonly number[], dtype: 'f32' | 'f16' = 'f32') => KERNELS.get(op)!.build({ dtype, dims, scalars: [] })

describe('the plans of sort, topk and scatter_add', () => {
  it('sort a row that fits a block in one step, and merge the blocks of longer ones', () => {
    expect(build('sort', [5, 2048, 0])).toMatchObject({ scratchBytes: [], steps: [{ groups: 5 }] })
    expect(build('sort', [10_000, 100, 1]).steps.map(({ groups }) => groups)).toEqual([625])
    // A thread for each element of shorter rows, and a workgroup for each of few longer ones, or for several of them.
    for (const [rows, cols] of [[1000, 10], [9000, 60]] as const)
      expect(build('sort', [rows, cols, 1]).steps.map(({ groups }) => groups), `${rows} x ${cols}`).toEqual([Math.ceil((rows * cols) / THREADS)])
    for (const [rows, cols, groups] of [[2, 256, 2], [600, 100, 300], [3, 1000, 3], [3000, 100, 1500]] as const)
      expect(build('sort', [rows, cols, 1]).steps.map((one) => one.groups), `${rows} x ${cols}`).toEqual([groups])
    expect(build('topk', [2000, 600, 9]).steps.map(({ groups }) => groups)).toEqual([1000])
  })

  it('sort longer rows by their digits: in one workgroup, in a few parts that are merged, or in parts that are counted first', () => {
    const steps = (dims: readonly number[], dtype: 'f32' | 'f16' = 'f32') => build('sort', dims, dtype).steps.map(({ groups }) => groups)
    expect(steps([7, 3840, 0])).toEqual([7])
    // Two parts of 2500, and a thread for each element to its place.
    expect(steps([3, 5000, 0])).toEqual([6, Math.ceil(15_000 / THREADS)])
    expect(build('sort', [3, 5000, 0]).scratchBytes).toEqual([60_000, 60_000])
    // More than four parts of a row are merged while the elements are few.
    expect(steps([3, 28_001, 0])).toHaveLength(2)
    expect(steps([200, 28_001, 0])).toHaveLength(8)
    expect(steps([2048, 8192, 0])).toHaveLength(2)
    // topk of a row that fits a workgroup as well.
    expect(build('topk', [12, 3001, 9]).steps.map(({ groups }) => groups)).toEqual([12])
    // Counted and written for each of four digits; f16 has three.
    expect(steps([3, 50_000, 0])).toEqual(Array.from({ length: 8 }, () => 3 * 18))
    expect(steps([3, 50_000, 0], 'f16')).toHaveLength(6)
    // Counts of many parts are added up by a step of their own.
    expect(steps([2, 1_000_003, 1]).slice(0, 3)).toEqual([2 * 356, 64, 2 * 356])
    expect(build('sort', [3, 50_000, 0]).scratchBytes).toEqual([600_000, 600_000, 600_000, 600_000, 3 * 18 * 1024])
  })

  it('share rows out so that no workgroup sorts many more elements than another', () => {
    for (const length of [1025, 2049, 3841, 7681, 20_011, 30_720]) {
      const { steps } = build('sort', [1, length, 0])
      const [, , parts = 0, , size = 0] = steps[0]!.dims
      expect(parts * size).toBeGreaterThanOrEqual(length)
      expect((parts - 1) * size).toBeLessThan(length)
      expect(size).toBeLessThanOrEqual(3840)
    }
  })

  it('sort many rows that fit larger workgroups of the device in one step, and merge a few parts of them', () => {
    const steps = (rows: number, cols: number, threads: number, workgroupBytes: number) => KERNELS.get('sort')!.build({ dtype: 'f32', dims: [rows, cols, 0], scalars: [], threads, workgroupBytes }).steps
    expect(steps(8192, 8192, 1024, 49_152)).toMatchObject([{ groups: 8192 }])
    for (const [rows, threads, bytes] of [[90, 1024, 49_152], [8192, 256, 49_152], [8192, 1024, 32_768]] as const) expect(steps(rows, 8192, threads, bytes), `${rows} ${threads} ${bytes}`).toHaveLength(2)
    expect(steps(200, 28_001, 1024, 49_152)).toMatchObject([{ groups: 800 }, {}])
  })

  it('share parts by fewer threads where these are many, none of which counts more keys than a byte holds', () => {
    for (let size = 257; size <= 3840; size += 7) {
      for (const parts of [1, 527, 528, 100_000]) {
        const { threads, held } = sharedBy(parts, size)
        expect(threads * held >= size && held <= 17 && held % 2 === 1, `${parts} ${size}`).toBe(true)
        expect(4 * (threads * held <= 11 * THREADS ? threads * (held + 5) : threads * held), `${parts} ${size}`).toBeLessThanOrEqual(16_384)
      }
    }
    expect([sharedBy(30_011, 1025), sharedBy(9, 1025), sharedBy(8192, 8192)]).toEqual([{ threads: 128, held: 9 }, { threads: 256, held: 5 }, { threads: 512, held: 17 }])
  })

  it('select the first of long rows from those of their parts', () => {
    const { steps, scratchBytes } = build('topk', [1, 131_072, 40])
    expect(steps.map(({ groups }) => groups)).toEqual([32, 1])
    expect(scratchBytes).toEqual([4 * 32 * 40, 4 * 32 * 40])
  })

  it('select more elements of parts where a row has many parts, and one workgroup soon has what they leave', () => {
    expect(build('topk', [19, 50_000, 300]).steps.map(({ groups }) => groups)).toEqual([19 * 13, 19])
    // Of one row as many as leave no device idle.
    expect([build('topk', [1, 8_000_000, 20]), build('topk', [3, 2_000_000, 20])].map(({ steps }) => steps.map(({ groups }) => groups))).toEqual([[384, 1], [3 * 128, 3]])
    expect(build('topk', [1, 250_001, 400]).steps).toHaveLength(5)
  })

  it('merge the first of sorted parts of few rows, and sort many rows by large workgroups', () => {
    const { steps, scratchBytes } = build('topk', [4, 32_769, 275])
    expect(steps.map(({ groups }) => groups)).toEqual([4 * 9, Math.ceil((4 * 9 * 275) / THREADS)])
    expect(scratchBytes).toEqual([4 * 4 * 9 * 275, 4 * 4 * 9 * 275])
    expect(build('topk', [1, 120_001, 450]).steps.map(({ groups }) => groups)).toEqual([32, 57])
    const large = KERNELS.get('topk')!.build({ dtype: 'f32', dims: [513, 5237, 2220], scalars: [], threads: 1024, workgroupBytes: 49_152 })
    expect(large).toMatchObject({ scratchBytes: [], steps: [{ groups: 513 }] })
  })

  it('sort few rows of few parts, and most of a row, as those of sort', () => {
    expect(build('topk', [17, 6353, 416]).steps.map(({ groups }) => groups)).toEqual([34, Math.ceil((17 * 2 * 416) / THREADS)])
    expect(build('topk', [17, 17_001, 3000]).steps.map(({ groups }) => groups)).toEqual([85, Math.ceil((17 * 5 * 3000) / THREADS)])
    for (const [rows, cols, k] of [[4, 8192, 5000], [200, 60_000, 30_000], [3, 400_000, 9000]] as const)
      expect(build('topk', [rows, cols, k]).steps.map(({ groups }) => groups), `${rows} x ${cols}`).toEqual(build('sort', [rows, cols, 1]).steps.map(({ groups }) => groups))
  })

  it('select thousands of many rows, or of rows that are not long, by a workgroup each, and sort these', () => {
    const { steps, scratchBytes } = build('topk', [257, 65_537, 2942])
    expect(steps.map(({ groups }) => groups)).toEqual([257, 257])
    expect(scratchBytes).toEqual([4 * 257 * 2942, 4 * 257 * 2942, 4 * 257 * 65_537, 4 * 257 * 65_537])
    // What is sorted has the places that were selected, and more of it than a workgroup has is sorted like any rows.
    expect(steps[1]!.buffers).toEqual([{ scratch: 0 }, 'output', { output: 1 }, { scratch: 1 }])
    expect(build('topk', [200, 120_000, 30_000]).steps.slice(1).map(({ groups }) => groups)).toEqual(build('sort', [200, 30_000, 1]).steps.map(({ groups }) => groups))
    expect(build('topk', [20, 50_001, 2000]).steps.map(({ groups }) => groups)).toEqual([20, 20])
    // As many as the memory of a workgroup has are sorted there.
    for (const [rows, cols, k] of [[100, 12_000, 800], [98, 15_924, 129], [300, 140_000, 700], [100, 70_000, 1024], [100, 20_000, 300], [825, 65_537, 346], [20, 50_000, 300]] as const)
      expect(build('topk', [rows, cols, k]).steps, `${rows} x ${cols}`).toMatchObject([{ groups: rows }])
  })

  it('select the first of few long rows by a bound of their keys, in parts whose lists are joined', () => {
    const { steps, scratchBytes } = build('topk', [4, 5_694_653, 496])
    expect(steps.map(({ groups }) => groups)).toEqual([1012, 4, 1012, 1012, 4])
    // First keys of 253 workgroups of a row, and of groups of eight of their threads.
    expect(scratchBytes).toEqual([...Array.from({ length: 4 }, () => 4 * 4 * 5_694_653), 4 * 1012, 4 * 4, 4 * 4 * (253 * (256 + 32) + 1)])
    expect(build('topk', [2, 1_000_003, 3000]).steps.map(({ groups }) => groups).slice(4)).toEqual([2, 2])
    // Where groups of a row are too few for a bound, each row has a workgroup, or is sorted.
    expect(build('topk', [88, 409_582, 7696]).steps[0]!.groups).toBe(88)
  })

  it('select the first of rows that are too many or too short for that in a workgroup each', () => {
    for (const [rows, cols, k] of [[8192, 8192, 9], [300, 1025, 256], [600, 16_000, 400], [300, 12_000, 700], [300, 20_000, 900], [3000, 50_257, 10], [1, 16_383, 64]] as const)
      expect(build('topk', [rows, cols, k]), `${rows} x ${cols}`).toMatchObject({ scratchBytes: [], steps: [{ groups: rows }] })
    for (const dims of [[300, 8192, 1025], [4, 8192, 65], [1, 60_000, 9]]) expect(build('topk', dims).steps.length, dims.join(' ')).toBeGreaterThan(1)
  })

  it('give a thread a whole row where short ones are many', () => {
    for (const [op, dims] of [['sort', [262_145, 32, 0]], ['sort', [65_536, 9, 1]], ['topk', [70_001, 31, 4]]] as const)
      expect(build(op, dims), `${op} ${dims.join(' ')}`).toMatchObject({ scratchBytes: [], steps: [{ groups: Math.ceil(dims[0] / 64) }] })
    for (const dims of [[262_145, 8, 0], [65_535, 32, 0]]) expect(build('sort', dims).steps.map(({ groups }) => groups), dims.join(' ')).toEqual([Math.ceil((dims[0]! * dims[1]!) / THREADS)])
  })

  it('merge parts in scratch space whose rows end with what stands last', () => {
    const { steps, scratchBytes } = build('sort', [5, 8192, 0])
    expect(scratchBytes).toEqual([4 * 5 * 3 * 2731, 4 * 5 * 3 * 2731])
    expect(steps.map(({ groups }) => groups)).toEqual([15, Math.ceil((5 * 3 * 2731) / THREADS)])
  })

  it('add many sources for few rows up in parts, and few for many rows where they belong', () => {
    const crowded = build('scatter_add', [116, 5, 118749])
    expect(crowded.scratchBytes[0]).toBe(crowded.steps[0]!.groups * 116 * 5 * 4)
    expect(build('scatter_add', [50257, 768, 16384]).scratchBytes).toEqual([4 * 50257, 4 * 16384])
    // Of little, threads that share each cell look for its sources: here eight, eight and two.
    expect([[2, 2, 166], [12_522, 1, 1025], [123, 31, 7]].map((dims) => build('scatter_add', dims).steps.map(({ groups }) => groups))).toEqual([[1], [Math.ceil(12_522 / 8)], [30]])
  })
})
