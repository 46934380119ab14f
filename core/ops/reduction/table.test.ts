import { describe, expect, it } from 'vitest'
import { generatedInputs, givenInputs } from '../testing'
import { outputsOf } from '../define'
import { getOp } from '../registry'

const op = getOp('sum')

const x = [1, 2, 3, 10, 20, 30]

describe('sum of [[1, 2, 3], [10, 20, 30]]', () => {
  it.each([
    { axis: 'all', dims: [1, 6, 1], shape: [1], sums: [66], bytes: 28 },
    { axis: 'last', dims: [2, 3, 1], shape: [2], sums: [6, 60], bytes: 32 },
    { axis: 'first', dims: [1, 2, 3], shape: [3], sums: [11, 22, 33], bytes: 36 },
    { axis: 'first_last', dims: [2, 3, 1, 1], shape: [2], sums: [6, 60], bytes: 32 },
  ])('over $axis', ({ axis, dims, shape, sums, bytes }) => {
    const p = op.params.parse({ rows: 2, cols: 3, axis })
    expect([op.dims(p), outputsOf(op, p, 'f32')[0]!.shape, op.bytes(p, 'f32'), op.flops(p)]).toEqual([dims, shape, bytes, 6])
    expect(Array.from(op.reference(p, givenInputs(x), 0, sums.length))).toEqual(sums)
  })
})

it('adds a long row in pieces without losing any', () => {
  const rows = 3
  const cols = 40_000
  const read = generatedInputs(op, { rows, cols, axis: 'last' }, 'f32', 5)
  const all = read(0, 0, rows * cols)
  const naive = [0, 1, 2].map((r) => Array.from(all).slice(r * cols, (r + 1) * cols).reduce((a, b) => a + b, 0))
  const out = op.reference(op.params.parse({ rows, cols, axis: 'last' }), read, 0, rows)
  out.forEach((value, i) => expect(value).toBeCloseTo(naive[i]!, 9))
  expect(op.reference(op.params.parse({ rows, cols, axis: 'all' }), read, 0, 1)[0]).toBeCloseTo(naive[0]! + naive[1]! + naive[2]!, 9)
})

it('the tolerance follows the square root of the length, and the scale is that of a sum of unit normals', () => {
  expect(op.tolerance(op.params.parse({ rows: 1, cols: 4096, axis: 'last' }), 'f32').relL2).toBeCloseTo(2e-5, 12)
  expect(op.tolerance(op.params.parse({ rows: 4, cols: 2, axis: 'last' }), 'f32').relL2).toBe(1e-6)
  expect(op.tolerance(op.params.parse({ rows: 1, cols: 4096, axis: 'last' }), 'bf16').relL2).toBe(1e-2)
  expect(op.outputScale(op.params.parse({ rows: 64, cols: 4096, axis: 'first' }))).toBe(8)
})

it('another axis is refused with the choices', () => {
  expect(op.params.safeParse({ rows: 1, cols: 1, axis: 'middle' }).error!.issues[0]!.message).toBe('expected one of all, last, first, first_last, received "middle"')
})

describe('a batch of two matrices [[1, 2], [3, 4]] and [[5, 6], [7, 8]]', () => {
  it.each<[axis: string, dims: number[], sums: number[], argmax: number[]]>([
    ['all', [1, 8, 1], [36], [7]],
    ['last', [4, 2, 1], [3, 7, 11, 15], [1, 1, 1, 1]],
    ['first', [1, 2, 4], [6, 8, 10, 12], [1, 1, 1, 1]],
    ['first_last', [2, 2, 1, 2], [14, 22], [3, 3]],
  ])('over %s', (axis, dims, sums, argmax) => {
    const p = op.params.parse({ rows: 2, cols: 2, batch: 2, axis })
    const read = givenInputs([1, 2, 3, 4, 5, 6, 7, 8])
    expect(op.dims(p)).toEqual(dims)
    expect(Array.from(op.reference(p, read, 0, sums.length))).toEqual(sums)
    expect(Array.from(getOp('argmax').reference(p, read, 0, sums.length))).toEqual(argmax)
  })
})

it.each(['last', 'first'])('the first of equal values is the one that counts, over %s', (axis) => {
  const x = [2, 9, 1, 9, 1]
  const p = { rows: axis === 'last' ? 1 : 5, cols: axis === 'last' ? 5 : 1, batch: 1, axis }
  expect([getOp('argmax').reference(p, givenInputs(x), 0, 1)[0], getOp('argmin').reference(p, givenInputs(x), 0, 1)[0]]).toEqual([1, 2])
})

it('the sum of absolute values stays finite in f16 however long it is', () => {
  const norm = getOp('norm_l1')
  for (const rows of [100, 2 ** 20]) {
    const p = norm.params.parse({ rows, cols: 3, axis: 'first' })
    expect(norm.reference(p, generatedInputs(norm, p, 'f16', 1), 0, 1)[0]).toBeLessThan(65504)
  }
})

it('a NaN is the largest and the smallest element, the first of several, as in PyTorch', () => {
  const p = { rows: 2, cols: 4, axis: 'last' }
  const read = givenInputs([1, NaN, 9, NaN, 3, -5, 7, 7])
  for (const [id, values] of Object.entries({ max: [NaN, 7], min: [NaN, -5], norm_linf: [NaN, 7], argmax: [1, 2], argmin: [1, 1] }))
    expect([id, ...getOp(id).reference(getOp(id).params.parse(p), read, 0, 2)]).toEqual([id, ...values])
})
