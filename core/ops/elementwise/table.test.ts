import { describe, expect, it } from 'vitest'
import { generatedInputs, givenInputs } from '../testing'
import { getOp } from '../registry'

const oneElement = (id: string) => getOp(id).params.parse({ n: 1, tokens: 1, dim: 1 })

const at = (id: string, ...inputs: number[]) => getOp(id).reference(oneElement(id), givenInputs(...inputs.map((x) => [x])), 0, 1)[0]

describe('references of element-wise operations', () => {
  it.each<[id: string, inputs: number[], out: number]>([
    ['add', [2 ** 24, 1], 2 ** 24 + 1],
    ['mul', [1 + 2 ** -23, 1 + 2 ** -23], 1 + 2 ** -22 + 2 ** -46],
    ['copy', [Math.fround(3e-39)], Math.fround(3e-39)],
    ['exp', [1], Math.E],
    // x / 2 * erfc(-x / sqrt 2) of the C library.
    ['gelu', [1], 0.8413447460685429],
    ['gelu', [-3], -0.004049694094890287],
    // 0.5 x (1 + tanh(u)) with 50 digits: in double precision that form would lose four of them.
    ['gelu_tanh', [-3.25], -0.0015686271447474688],
    ['sigmoid', [-2], 0.11920292202211755],
    ['lerp', [1, 3], 2],
    ['clamp', [-2], -0.5],
    ['fill', [], 1],
    ['silu_backward', [2, 0], 1],
    ['gelu_backward', [2, 0], 1],
    ['swiglu', [0, 5], 0],
  ])('%s of %j is %d in double precision', (id, inputs, out) => expect(at(id, ...inputs)).toBeCloseTo(out, 14))

  it('gelu(x) - gelu(-x) is x', () => {
    const x = generatedInputs(getOp('gelu'), { n: 500 }, 'f32', 3)(0, 0, 500)
    for (const value of x) expect(at('gelu', value)! - at('gelu', -value)!).toBeCloseTo(value, 13)
  })
})

describe('costs', () => {
  it.each<[id: string, bytesPerElement: number, flops: number]>([['copy', 8, 0], ['fill', 4, 0], ['add', 12, 1], ['exp', 8, 1], ['gelu', 8, 5]])('%s moves %d bytes and makes %d operations an element', (id, bytes, flops) => {
    const op = getOp(id)
    const p = op.params.parse({ n: 100 })
    expect([op.bytes(p, 'f32'), op.bytes(p, 'bf16'), op.flops(p)]).toEqual([100 * bytes, 50 * bytes, 100 * flops])
  })

  it('hardswish allows the roundings of alpha x + beta, as ONNX defines it, and little more', () => {
    const { ulp, abs } = getOp('hardswish').tolerance({ n: 4 }, 'f32').element
    const alpha = Math.fround(1 / 6)
    const excess = Array.from({ length: 2000 }, (_, i) => Math.fround(-3 + (i - 1000) * 2.7e-6)).map((x) => {
      const right = at('hardswish', x)!
      const made = Math.fround(x * Math.max(0, Math.min(1, Math.fround(Math.fround(alpha * x) + 0.5))))
      return Math.abs(made - right) - ulp * 2 ** -23 * Math.abs(right)
    })
    expect(Math.max(...excess)).toBeGreaterThan(abs / 4)
    expect(Math.max(...excess)).toBeLessThanOrEqual(abs)
  })

  it('a copy allows no difference at all', () => expect(getOp('copy').tolerance({ n: 4 }, 'bf16').element).toEqual({ ulp: 0, abs: 0 }))
})

describe('a smaller second operand', () => {
  const sub = getOp('sub')
  const a = [10, 20, 30, 40, 50, 60]

  it.each<[broadcast: string, cols: number, b: number[], out: number[], dims: number[]]>([
    ['row', 3, [1, 2, 3], [9, 18, 27, 39, 48, 57], [6, 3, 1]],
    ['column', 3, [1, 2], [9, 19, 29, 38, 48, 58], [6, 3, 2]],
    ['row', 0, [1, 2], [9, 18, 29, 38, 49, 58], [6, 2, 1]],
    ['scalar', 0, [5], [5, 15, 25, 35, 45, 55], [6, 2, 3]],
    ['none', 0, [1, 1, 1, 1, 1, 2], [9, 19, 29, 39, 49, 58], [6]],
  ])('%s, cols %d', (broadcast, cols, b, out, dims) => {
    const p = sub.params.parse({ n: 6, broadcast, cols })
    expect(Array.from(sub.reference(p, givenInputs(a, b), 0, 6))).toEqual(out)
    expect(Array.from(sub.reference(p, givenInputs(a, b), 1, 4))).toEqual(out.slice(1, 5))
    expect(sub.dims(p)).toEqual(dims)
    expect(sub.bytes(p, 'f32')).toBe(4 * (12 + b.length))
  })

  it.each([
    [{ n: 6, broadcast: 'row', cols: 4 }, 'expected cols to divide n, received cols 4 and n 6'],
    [{ n: 6, cols: 3 }, 'cols takes effect with broadcast row or column only, received broadcast none'],
    [{ n: 6, broadcast: 'diagonal' }, 'expected one of none, row, column, scalar, received "diagonal"'],
  ])('refuses %j', (params, message) => expect(sub.params.safeParse(params).error!.issues[0]!.message).toBe(message))
})

it('numbers reach kernels in the order of the attributes, as f32', () => {
  const clamp = getOp('clamp')
  expect(clamp.scalars(clamp.params.parse({ n: 1, max: 0.1 }))).toEqual([-0.5, Math.fround(0.1)])
})
