import { describe, expect, it } from 'vitest'
import { generatedInputs, givenInputs } from '../readers'
import op from './op'

const x = [1, 2, 3, 10, 20, 30]

describe('sum of [[1, 2, 3], [10, 20, 30]]', () => {
  it.each([
    { axis: 'all', dims: [1, 6, 1], shape: [1], sums: [66], bytes: 28 },
    { axis: 'last', dims: [2, 3, 1], shape: [2], sums: [6, 60], bytes: 32 },
    { axis: 'first', dims: [1, 2, 3], shape: [3], sums: [11, 22, 33], bytes: 36 },
  ])('over $axis', ({ axis, dims, shape, sums, bytes }) => {
    const p = { rows: 2, cols: 3, axis }
    expect([op.dims(p), op.outputShape(p), op.bytes(p, 'f32'), op.flops(p)]).toEqual([dims, shape, bytes, 6])
    expect(Array.from(op.reference(p, givenInputs(x), 0, sums.length))).toEqual(sums)
  })
})

it('adds a long row in pieces without losing any', () => {
  const rows = 3
  const cols = 40_000
  const read = generatedInputs(op, { rows, cols, axis: 'last' }, 'f32', 5)
  const all = read(0, 0, rows * cols)
  const naive = [0, 1, 2].map((r) => all.subarray(r * cols, (r + 1) * cols).reduce((a, b) => a + b, 0))
  const out = op.reference({ rows, cols, axis: 'last' }, read, 0, rows)
  out.forEach((value, i) => expect(value).toBeCloseTo(naive[i]!, 9))
  expect(op.reference({ rows, cols, axis: 'all' }, read, 0, 1)[0]).toBeCloseTo(naive[0]! + naive[1]! + naive[2]!, 9)
})

it('the tolerance follows the square root of the length, and the scale is that of a sum of unit normals', () => {
  expect(op.tolerance({ rows: 1, cols: 4096, axis: 'last' }, 'f32').relL2).toBeCloseTo(2e-5, 12)
  expect(op.tolerance({ rows: 4, cols: 2, axis: 'last' }, 'f32').relL2).toBe(1e-6)
  expect(op.tolerance({ rows: 1, cols: 4096, axis: 'last' }, 'bf16').relL2).toBe(1e-2)
  expect(op.outputScale!({ rows: 64, cols: 4096, axis: 'first' })).toBe(8)
})

it('another axis is refused with the choices', () => {
  expect(op.params.safeParse({ rows: 1, cols: 1, axis: 'middle' }).error!.issues[0]!.message).toBe('expected one of all, last, first, received "middle"')
})
