import { describe, expect, it } from 'vitest'
import { attributeChoices, exampleParams } from '@core/ops/testing'
import { ALL_OPS, getOp } from '@core/ops/registry'
import { bindingTypes, dispatchSize, THREADS } from '../wgsl/header'
import { implementationsOf, KERNELS, supportedKernels } from './registry'
import { planAcross } from './matmul/across'
import { sharingOf } from './matmul/long'
import { planNormBackward } from './rows/norm-backward'
import { lanesFor } from './reduction/fold'
import { uniformWords, type Program } from './types'

const build = (op: string, dims: readonly number[], dtype: 'f32' | 'f16' = 'f32'): Program => KERNELS.get(op)!.build({ dtype, dims, scalars: [] })

describe('WGSL kernels', () => {
  it('belong to an op each and offer only its element types', () => {
    for (const [id, kernel] of KERNELS) {
      const op = getOp(id)
      expect(op.dtypes, id).toEqual(expect.arrayContaining([...kernel.dtypes]))
    }
  })

  it('offer f16 arithmetic where the adapter has it, and elsewhere emulated storage', () => {
    const without = supportedKernels(false)
    expect(without['add']).toEqual(['f32'])
    expect(without['copy']).toEqual(['f32', 'f16'])
    expect(supportedKernels(true)['add']).toEqual(['f32', 'f16'])
    const emulated = implementationsOf(false).find(({ id }) => id === 'wgsl-f16-emulated')!
    expect(supportedKernels(false, emulated.kernels)['add']).toEqual(['f16'])
    expect([emulated.preferred(false), emulated.preferred(true)]).toEqual([true, false])
  })

  it('are the same text for every size of a kind, so that a sweep compiles them once', () => {
    expect(build('add', [1 << 24]).steps[0]!.wgsl).toBe(build('add', [1 << 26]).steps[0]!.wgsl)
    expect(build('matmul', [1, 2048, 2048, 2048, 0, 0]).steps[0]!.wgsl).toBe(build('matmul', [1, 4096, 4096, 4096, 0, 0]).steps[0]!.wgsl)
  })

  it('use vectors only where rows stay aligned', () => {
    expect(build('softmax', [8, 1000]).steps[0]!.wgsl).toContain('array<vec4<f32>>')
    expect(build('softmax', [8, 1001]).steps[0]!.wgsl).not.toContain('array<vec4<f32>>')
    expect(build('layer_norm', [8, 1001], 'f16').steps[0]!.wgsl).toContain('x_in: array<f16>')
  })

  it('add a long sum in one step, whose last workgroup joins the pieces of the others', () => {
    const long = build('sum', [1, 1 << 24, 1])
    expect(long.steps.map(({ groups }) => groups)).toEqual([1056])
    // A word for each piece, and a counter.
    expect(long.scratchBytes).toEqual([4 * 1056 + 4])
    expect([build('sum', [1, 1 << 23, 1]), build('argmin', [1, 1 << 23, 1]), build('dot', [1 << 24])].map(({ steps }) => steps[0]!.groups)).toEqual([2048, 2048, 2048])
    expect(build('argmin', [1, 1 << 24, 1]).steps.map(({ groups }) => groups)).toEqual([1056])
    expect(build('sum', [1, 1000, 1])).toMatchObject({ scratchBytes: [], steps: [{ groups: 1 }] })
    expect(build('sum', [4096, 1024, 1]).scratchBytes).toEqual([])
    expect(build('dot', [443_673]).steps.map(({ groups }) => groups)).toEqual([108])
    // Rows of several groups are pieces of one result, as far as one workgroup can join them.
    expect(build('max', [2, 37_211, 1, 5]).steps).toHaveLength(1)
    expect(build('max', [2, 12_000, 1, 5000]).steps.length).toBeGreaterThan(1)
    // Of columns as well, unless their pieces are too many for the threads of one workgroup.
    expect(build('sum', [1, 1024, 1024]).steps.map(({ groups }) => groups)).toEqual([8 * 32])
    expect(build('sum', [1, 1_000_000, 4]).steps).toHaveLength(1)
  })

  it('have a thread at least for each of many short runs, and fewer threads that read more', () => {
    expect(build('min', [1_048_576, 8, 1]).steps.map(({ groups }) => groups)).toEqual([1_048_576 / THREADS])
    expect(build('mean', [8192, 3136, 1]).steps.map(({ groups }) => groups)).toEqual([8192 / 2])
  })

  it('map the elements that they reduce by themselves, four a thread', () => {
    expect(build('min', [1_000_003, 1, 1]).steps.map(({ groups }) => groups)).toEqual([Math.ceil(1_000_003 / 4 / 128)])
    expect(build('norm_l2', [1, 1, 4000]).steps[0]!.wgsl).toContain('sqrt(a * a)')
  })

  it('find an extreme in one step', () => {
    for (const dims of [[85, 20_607, 1], [1, 300_000, 1], [1, 65_536, 7], [65, 23, 1, 16]]) expect(build('argmax', dims).steps, dims.join(' ')).toHaveLength(1)
    expect(build('argmax', [65, 300, 1, 16]).scratchBytes).toEqual([4 * (2 * 65 * 16 + 65)])
    // Results of little wait for nobody.
    expect(build('argmax', [65, 23, 1, 16]).scratchBytes).toEqual([])
    expect(build('argmax', [65, 23, 1, 5000]).steps).toHaveLength(2)
    // About as many pieces of columns as a piece has rows.
    expect(build('argmin', [1, 22_291, 129]).steps[0]!.groups).toBe(5 * 149)
  })

  it('wait for memory once where few threads run: each takes one vector of a short run', () => {
    const loads = (op: string, dims: readonly number[]) => ['x[', 'for (;'].map((text) => build(op, dims).steps[0]!.wgsl.split(text).length - 1)
    expect(loads('dot', [55])).toEqual([1, 0])
    expect(loads('sum', [7, 1000, 1])).toEqual([1, 0])
    // Up to sixteen of a longer one together; then four at a time, and what is left over as clamped loads together.
    expect(loads('sum', [1 << 16, 4096, 1])).toEqual([8, 0])
    expect(loads('sum', [1 << 16, 2036, 1])).toEqual([8, 0])
    expect(loads('sum', [4096, 1 << 15, 1])).toEqual([7, 1])
    expect(build('argmax', [1, 7, 1]).steps[0]!.wgsl).toContain('lane / 2u')
  })

  it('reduce the first and the last axis of few elements in one step', () => {
    expect(build('mean', [2, 5, 1, 2]).steps).toHaveLength(1)
    expect(build('mean', [2, 2, 1, 3]).steps.map(({ dims }) => dims)).toEqual([[2, 6, 1, 6, 2, 4]])
    expect(build('mean', [6_556_748, 2, 1, 3]).steps.length).toBeGreaterThan(1)
  })

  it('take few columns, or few rows of many, without threads that idle', () => {
    const groups = (rows: number, columns: number) => build('sum', [1, rows, columns]).steps.map((one) => one.groups)
    expect(groups(750, 2)).toEqual([1])
    expect(groups(249, 7)).toEqual([1])
    expect(groups(9, 1 << 20)).toEqual([(1 << 18) / THREADS])
    // Two columns, 128 rows at a time, at least eight of them for a thread.
    expect(groups(1 << 20, 2)[0]).toBe((1 << 20) / (128 * 8))
  })

  it('take the gradients of a norm in one dispatch up to 1Mi elements, and both sums over many tokens in one step', () => {
    const groups = (op: string, tokens: number, dim = 4096) => build(op, [tokens, dim]).steps.map((one) => one.groups)
    expect(groups('layer_norm_backward', 7)).toEqual([7 + 32])
    expect(groups('rms_norm_backward', 7)).toEqual([7 + 32])
    // Four pieces of the tokens for each 8 columns, which leave two sums of each.
    expect(groups('layer_norm_backward', 935, 365)).toEqual([468 + 4 * 46])
    expect(build('layer_norm_backward', [935, 365]).scratchBytes).toEqual([4 * (2 * 4 * 365 + 46)])
    expect(groups('rms_norm_backward', 20_483, 11)).toHaveLength(1)
    expect(groups('layer_norm_backward', 20_483, 11).length).toBeGreaterThan(1)
    expect(groups('layer_norm_backward', 640)).toHaveLength(2)
    // A row of so many elements takes many workgroups.
    expect(groups('rms_norm_backward', 3, 262_144)[0]).toBeGreaterThan(100)
    expect(groups('layer_norm_backward', 3, 262_144)[0]).toBeGreaterThan(100)
    expect(groups('layer_norm_backward', 500, 300)).toHaveLength(1)
  })

  it('have the next row of a gradient of norms on its way, while threads have registers for it', () => {
    expect(planNormBackward(32_768, 1024)).toMatchObject({ lanes: 128, rowsPerGroup: 2, held: 2, pieces: 2 * 264, ahead: true })
    // Workgroups join the sums of the rows that share them, so fewer rows are worth it.
    expect([planNormBackward(8192, 128), planNormBackward(4000, 128)]).toEqual([expect.objectContaining({ lanes: 16, rowsPerGroup: 16, pieces: 512 * 16 }), undefined])
    expect(planNormBackward(8192, 4096)).toMatchObject({ lanes: 256, held: 4, pieces: 256, ahead: true })
    expect(planNormBackward(8192, 8192)).toMatchObject({ lanes: 256, threads: 256, held: 8, ahead: false })
    for (const most of [512, 1024]) expect(planNormBackward(8192, 8192, most)).toMatchObject({ lanes: 512, threads: 512, held: 4, rowsPerGroup: 1, pieces: 132, ahead: true })
    expect(planNormBackward(8197, 2047, 1024)).toMatchObject({ lanes: 512, pieces: 256, ahead: true })
    expect(planNormBackward(2047, 8192, 1024)).toBeUndefined()
    expect(planNormBackward(8192, 16_388, 512)).toBeUndefined()
  })

  it('train a batch_norm of small channels in one dispatch, and of others in two, by parts of channels', () => {
    expect(build('batch_norm', [33, 11, 59, 1]).steps.map(({ groups }) => groups)).toEqual([11])
    expect(build('batch_norm', [65, 32, 64, 1]).steps.map(({ groups }) => groups)).toEqual([32])
    expect(build('batch_norm', [33, 11, 59, 0]).steps).toHaveLength(1)
    // Of one channel, a thread joins the moments of four parts.
    expect(build('batch_norm', [257, 1, 90_350, 1]).steps.map(({ groups }) => groups)).toEqual([1024, 1024])
    expect(build('batch_norm', [32, 256, 3136, 1]).steps.map(({ groups }) => groups)).toEqual([256 * 5, 256 * 5])
    // Columns of a large matrix are not read by single elements.
    expect(build('batch_norm', [4096, 8192, 1, 1]).steps.length).toBeGreaterThan(3)
  })

  it('take the mean loss of tokens in one dispatch as far as one workgroup can join the others', () => {
    for (const dims of [[9, 2], [61, 83], [2, 131_072], [513, 1135]]) expect(build('cross_entropy', dims).steps, dims.join(' ')).toHaveLength(1)
    expect(build('cross_entropy', [3, 2]).scratchBytes).toEqual([])
    expect(build('cross_entropy', [5, 1024]).scratchBytes).toEqual([4 * (5 + 1)])
    // Two results of each part, a counter and a loss for each row, and a counter.
    const long = build('cross_entropy', [2, 131_072])
    expect(long.scratchBytes).toEqual([4 * (2 * (2 * (long.steps[0]!.groups / 2) + 1) + 3)])
    expect(build('cross_entropy', [50_000, 2048]).steps).toHaveLength(2)
  })

  it('pool a whole plane as a reduction, and several windows of one by a thread each', () => {
    const op = getOp('adaptive_avg_pool2d')
    const dims = (outHeight: number) => op.dims(op.params.parse({ batch: 2, channels: 3, height: 56, width: 56, outHeight, outWidth: 1 }))
    expect(build('adaptive_avg_pool2d', dims(1)).steps).toEqual(build('mean', [6, 56 * 56, 1]).steps)
    expect(build('adaptive_avg_pool2d', dims(7)).steps[0]!.wgsl).not.toBe(build('mean', [6, 56 * 56, 1]).steps[0]!.wgsl)
  })

  it('pool four outputs a thread where rows are whole vectors, and large windows by several threads', () => {
    const op = (id: string, params: Record<string, number>) => build(id, getOp(id).dims(getOp(id).params.parse(params))).steps[0]!
    const line = (length: number) => op('max_pool1d', { batch: 3, channels: 5, length, kernel: 3, stride: 2, padding: 1 })
    expect([line(8192).groups, line(8190).groups]).toEqual([15 * 4, 15 * 16])
    // Many windows of few elements: a thread has several.
    expect(op('avg_pool1d', { batch: 256, channels: 1, length: 8191, kernel: 5, stride: 1, padding: 2 }).groups).toBe(256 * 2 * 4)
    expect(op('max_pool2d', { batch: 32, channels: 64, height: 113, width: 113, kernel: 3, stride: 2, padding: 1 }).groups).toBe(Math.ceil((32 * 64 * 57 * 57) / THREADS))
    // Vectors before, at and behind the first output's: the padding is in the first.
    expect(line(8192).wgsl.split('x[').length - 1).toBe(3)
    expect(op('adaptive_avg_pool2d', { batch: 32, channels: 64, height: 112, width: 112, outHeight: 7, outWidth: 7 }).groups).toBe((32 * 64 * 49) / 4)
    expect(op('adaptive_avg_pool2d', { batch: 1, channels: 1, height: 6, width: 6, outHeight: 3, outWidth: 3 }).groups).toBe(1)
  })

  it('gather four elements a thread', () => {
    expect(build('gather', [1048, 1, 16777]).steps[0]!.groups).toBe(Math.ceil(16777 / 4 / THREADS))
  })

  it('cover every element of an odd length', () => {
    for (const n of [1, 3, 12345, 5_000_003]) {
      const step = build('exp', [n]).steps[0]!
      const threads = Number(/@workgroup_size\((\d+)\)/.exec(step.wgsl)![1])
      expect(step.groups * threads * 4).toBeGreaterThanOrEqual(n)
    }
  })
})

describe('products', () => {
  const groups = (dims: readonly number[]) => build('matmul', dims).steps[0]!.groups
  it('take tiles as flat as the output, and no tiles where these would stand nearly empty', () => {
    expect(groups([32, 64, 3136, 576, 0, 0])).toBe(32 * 25)
    expect(groups([1, 1024, 1024, 64, 0, 0])).toBe(8 * 16)
    expect(groups([1, 512, 512, 64, 0, 0])).toBe(8 * 8)
    expect(groups([1, 2, 94899, 27, 0, 0])).toBe(Math.ceil(94899 / THREADS))
    expect(groups([1, 3, 5, 7, 1, 1])).toBe(1)
    // A thread for each output of few steps, unless outputs are many.
    expect(groups([1, 359, 219, 10, 0, 1])).toBe(Math.ceil((359 * 219) / THREADS))
    expect(groups([1, 255, 129, 48, 0, 0])).toBe(Math.ceil((255 * 129) / THREADS))
    expect(groups([1, 1024, 1024, 16, 0, 0])).toBe(8 * 16)
  })

  it('take long sums for few outputs in parts, each of whole steps, and add them up', () => {
    const { steps, scratchBytes } = build('matmul', [1, 512, 17, 115435, 1, 0])
    expect(steps[0]!.groups).toBe(8 * 64)
    expect(scratchBytes[0]).toBe(4 * 64 * 512 * 17)
    const [, , k, , , , parts, chunk] = steps[0]!.dims as number[]
    expect([parts, chunk! % 32, parts! * chunk! >= k!]).toEqual([64, 0, true])
    // Few tiles in parts of fewer steps, none of them empty, where there are some parts at least.
    expect(build('matmul', [1, 257, 257, 257, 0, 0]).steps.map(({ groups: all }) => all)).toEqual([17 * 17])
    expect(build('matmul', [1, 77, 1000, 1000, 0, 0]).steps[0]!.groups).toBe(32 * 8)
    expect(build('matmul', [1, 300, 1000, 150, 0, 0]).steps).toHaveLength(1)
    // Neighbouring threads have neighbouring columns of the longer operand, and rows of threads share k.
    expect(build('matmul', [1, 8192, 1, 8192, 1, 0]).steps.map(({ groups }) => groups)).toEqual([256 * 4, 64])
    expect(build('matmul', [1, 65, 1, 511, 1, 0]).steps.map(({ groups }) => groups)).toEqual([9])
    expect(planAcross([1, 4099, 3, 700, 1, 0])).toMatchObject({ right: false, size: 3, count: 1, parts: 1 })
    // Few workgroups are larger where the device has such, and need no second step to join parts.
    expect([planAcross([2, 69, 1, 1435, 1, 0]), planAcross([2, 69, 1, 1435, 1, 0], 1024), planAcross([1, 512, 1, 4096, 1, 0], 1024), planAcross([1, 68, 8, 2222, 1, 0], 1024)]).toMatchObject([{ high: 32, parts: 2 }, { high: 128, parts: 1 }, { high: 32 }, { high: 32 }])
    expect([planAcross([1, 65, 1, 511, 0, 0]), planAcross([1, 65, 17, 511, 1, 0])]).toEqual([undefined, undefined])
    // Few rows or columns fill no tile: all threads share k.
    expect(build('matmul', [1, 3, 9, 1_735_271, 0, 1]).steps.map(({ groups }) => groups)).toEqual([848, 14])
    // A long row is read as vectors, by few rows at a time.
    expect(build('matmul', [1, 8192, 1, 8192, 0, 0]).steps.map(({ groups }) => groups)).toEqual([1024])
    expect(build('matmul', [1, 8192, 1, 8192, 0, 0]).steps[0]!.wgsl).toContain('array<vec4<f32>>')
    // The longer side is cut until no multiprocessor is idle.
    expect(build('matmul', [1, 5, 7, 200, 0, 0]).steps.map(({ groups }) => groups)).toEqual([7])
    expect(build('matmul', [1, 87, 2, 1811, 0, 0]).steps.map(({ groups }) => groups)).toEqual([87])
    // A workgroup has several blocks of 4x8 outputs where k is short for it and blocks are many.
    expect([[8193, 209], [8193, 50], [2000, 50], [2000, 1000], [100, 209]].map(([blocks, vectors]) => sharingOf(blocks!, vectors!))).toEqual([32, 8, 32, 32, THREADS])
    expect(build('matmul', [1, 32_769, 8, 209, 0, 1]).steps.map(({ groups }) => groups)).toEqual([Math.ceil(8193 / 8)])
    // Fewer rows of a block where threads that share one would be too few for a device.
    expect(build('matmul', [7, 1024, 1, 128, 0, 1]).steps.map(({ groups }) => groups)).toEqual([(7 * 1024) / 4 / 8])
    // More than eight rows whose elements lie across k are read by tiles, each element of the longer operand once.
    expect([[1, 16, 114_419, 257, 1, 1], [1, 16, 114_419, 257, 0, 1], [1, 8, 114_419, 257, 1, 1]].map((dims) => build('matmul', dims).steps[0]!.wgsl.includes('tile_a'))).toEqual([true, false, false])
    expect(build('matmul', [1, 1, 65_537, 512, 0, 1]).steps[0]!.wgsl).toContain('a: array<vec4<f32>>')
    expect(build('matmul', [1, 2048, 2048, 65536, 0, 0]).steps).toHaveLength(1)
  })
})

describe('the programs of every kernel', () => {
  const programs = [...KERNELS].flatMap(([id, kernel]) => {
    const op = ALL_OPS.find((candidate) => candidate.id === id)!
    // Rows so long that several workgroups share one need more buffers.
    const long = op.size.id === 'matrix' ? attributeChoices(op).map((choice) => ({ ...Object.fromEntries(op.size.extents.map(({ name }, i) => [name, [3, 2_100_011][i]!])), ...choice })) : []
    return [...exampleParams(op), ...long].map((params) => {
      const parsed = op.params.parse(params)
      return { id, program: kernel.build({ dtype: 'f32', dims: op.dims(parsed), scalars: op.scalars?.(parsed) ?? [] }) }
    })
  })

  it('bind no more than every adapter has: 8 storage buffers, one of which is the fence of a step', () => {
    for (const { id, program } of programs) for (const { wgsl, buffers } of program.steps) {
      const types = bindingTypes(wgsl)
      expect(types, id).toHaveLength(buffers.length + 1)
      expect(types.filter((type) => type !== 'uniform').length, id).toBeLessThanOrEqual(7)
    }
  })

  it('name only scratch space that they ask for, and fit the uniform', () => {
    for (const { id, program } of programs) for (const step of program.steps) {
      for (const buffer of step.buffers) if (typeof buffer === 'object' && 'scratch' in buffer) expect(program.scratchBytes[buffer.scratch], id).toBeGreaterThan(0)
      expect(() => uniformWords(step), id).not.toThrow()
      expect(step.groups, id).toBeGreaterThan(0)
    }
  })

  it('spread few long rows over many workgroups, and read the results of each pass together', () => {
    const { steps, scratchBytes } = KERNELS.get('softmax')!.build({ dtype: 'f32', dims: [2, 4_000_000], scalars: [] })
    expect(steps.map(({ groups }) => groups)).toEqual([512, 512])
    expect(scratchBytes).toEqual([4096])
    expect(KERNELS.get('layer_norm')!.build({ dtype: 'f32', dims: [2, 4_000_000], scalars: [1e-5] }).steps).toHaveLength(2)
    expect(KERNELS.get('rms_norm')!.build({ dtype: 'f32', dims: [1, 4_194_305], scalars: [1e-5] }).steps.map(({ groups }) => groups)).toEqual([1024, 1024])
    expect(KERNELS.get('softmax')!.build({ dtype: 'f32', dims: [5000, 40_000], scalars: [] }).steps).toHaveLength(1)
  })
})

describe('lanesFor', () => {
  it('gives every run a whole number of threads that divides a workgroup, however many runs there are', () => {
    for (let length = 1; length <= 2048; length = length < 16 ? length + 1 : length * 2 + 1)
      for (let runs = 1; runs <= 2 ** 28; runs *= 4)
        for (const most of [256, 1024]) {
          const lanes = lanesFor(length, runs, most)
          expect(Number.isInteger(lanes) && lanes >= 1 && lanes <= most && most % lanes === 0, `${length} loads, ${runs} runs: ${lanes}`).toBe(true)
        }
  })
})

describe('reductions of few rows', () => {
  it('reduces few rows in one dispatch of large workgroups', () => {
    const groups = (dims: readonly number[], threads?: number) => KERNELS.get('mean')!.build({ dtype: 'f32', dims, scalars: [], threads }).steps.map((one) => one.groups)
    expect(groups([3, 8191, 1])).toEqual([21])
    expect(groups([3, 8191, 1], 1024)).toEqual([3])
    expect(groups([3, 100_003, 1], 1024)).toHaveLength(1)
  })
})

describe('dispatchSize', () => {
  it('folds many workgroups into two dimensions without losing one', () => {
    expect(dispatchSize(65535)).toEqual([65535, 1])
    const [x, y] = dispatchSize(1_000_001)
    expect(x * y).toBeGreaterThanOrEqual(1_000_001)
    expect(Math.max(x, y)).toBeLessThanOrEqual(65535)
  })
})

describe('broadcast operands', () => {
  it('are read by row, column or as one number, and never beyond their end', () => {
    for (const [mode, at] of [[1, 'e % dim(1u)'], [2, 'e / dim(1u)'], [3, '0u']] as const) {
      const step = build('add', [1000, 100, mode]).steps[0]!
      expect(step.wgsl).toContain(`min(${at}, dim(3u))`)
      expect(step.dims[3]).toBe([99, 9, 0][mode - 1])
    }
  })
})

describe('the uniform of a step', () => {
  it('holds dims and then scalars as f32, and no more than it has room for', () => {
    const words = uniformWords({ dims: [7, 8], scalars: [0.5] })
    expect([words[0], words[1], new Float32Array(words.buffer)[8]]).toEqual([7, 8, 0.5])
    expect(() => uniformWords({ dims: new Array<number>(9).fill(1) })).toThrow('a step has 9 dims')
  })
})
