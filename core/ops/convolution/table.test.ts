import { describe, expect, it } from 'vitest'
import type { Params } from '../../case'
import { tensorsOf } from '../define'
import { generatedInputs, givenInputs } from '../testing'
import { getOp } from '../registry'
import type { ReadInput } from '../types'

/** The definition of conv3d, written as plainly as it can be, with every axis of its own geometry. */
function naive(x: readonly number[], weight: ArrayLike<number>, batch: number, channels: number, filters: number, groups: number, axes: readonly (readonly [input: number, kernel: number, padding: number, output: number])[], stride: number, dilation: number): number[] {
  const [d, h, w] = axes as [readonly [number, number, number, number], readonly [number, number, number, number], readonly [number, number, number, number]]
  const inGroup = channels / groups
  const out: number[] = []
  for (let n = 0; n < batch; n++)
    for (let f = 0; f < filters; f++)
      for (let od = 0; od < d[3]; od++)
        for (let oh = 0; oh < h[3]; oh++)
          for (let ow = 0; ow < w[3]; ow++) {
            let sum = 0
            for (let c = 0; c < inGroup; c++)
              for (let kd = 0; kd < d[1]; kd++)
                for (let kh = 0; kh < h[1]; kh++)
                  for (let kw = 0; kw < w[1]; kw++) {
                    const [id, ih, iw] = [od * stride - d[2] + kd * dilation, oh * stride - h[2] + kh * dilation, ow * stride - w[2] + kw * dilation]
                    if (id < 0 || ih < 0 || iw < 0 || id >= d[0] || ih >= h[0] || iw >= w[0]) continue
                    const channel = Math.floor(f / (filters / groups)) * inGroup + c
                    sum += x[(((n * channels + channel) * d[0] + id) * h[0] + ih) * w[0] + iw]! * weight[(((f * inGroup + c) * d[1] + kd) * h[1] + kh) * w[1] + kw]!
                  }
            out.push(sum)
          }
  return out
}

const axesOf = (dims: readonly number[]) => [6, 10, 14].map((at) => dims.slice(at, at + 4) as [number, number, number, number])

it('convolves a signal worked out by hand', () => {
  const op = getOp('conv1d')
  // without padding: 1*1 + 2*10 = 21, 32, 43; padding 1 adds 0*1 + 1*10 in front and 4*1 behind
  const signal = givenInputs([1, 2, 3, 4], [1, 10])
  expect(Array.from(op.reference(op.params.parse({ batch: 1, channels: 1, length: 4, filters: 1, kernel: 2 }), signal, 0, 3))).toEqual([21, 32, 43])
  expect(Array.from(op.reference(op.params.parse({ batch: 1, channels: 1, length: 4, filters: 1, kernel: 2, padding: 1, stride: 2 }), signal, 0, 3))).toEqual([10, 32, 4])
})

describe('against nested loops', () => {
  it.each<[string, Params]>([
    ['conv1d', { batch: 2, channels: 4, length: 19, filters: 6, kernel: 3, stride: 2, dilation: 3, groups: 2, padding: 4 }],
    ['conv2d', { batch: 2, channels: 6, height: 7, width: 9, filters: 4, kernelHeight: 3, kernelWidth: 2, stride: 1, dilation: 2, groups: 2, paddingHeight: 2, paddingWidth: 0 }],
    ['conv2d', { batch: 1, channels: 3, height: 8, width: 8, filters: 5, kernelHeight: 1, stride: 3 }],
    ['conv2d', { batch: 2, channels: 4, height: 6, filters: 4, kernelHeight: 3, groups: 4 }],
    ['conv3d', { batch: 2, channels: 2, depth: 4, height: 5, width: 6, filters: 3, kernel: 2, stride: 2, padding: 1 }],
  ])('%s %j', (id, params) => {
    const op = getOp(id)
    const p = op.params.parse(params)
    const [x, weight, out] = tensorsOf(op, p, 'f32')
    const read = generatedInputs(op, params, 'f32', 5)
    const dims = op.dims(p)
    const whole = naive(Array.from(read(0, 0, x!.elements)), read(1, 0, weight!.elements), dims[0]!, dims[1]!, dims[2]!, dims[3]!, axesOf(dims), dims[4]!, dims[5]!)
    expect(whole.length).toBe(out!.elements)
    for (const [start, count] of [[0, whole.length], [1, 1], [2, 7], [whole.length - 3, 3], [5, whole.length - 9]] as const) {
      op.reference(p, read, start, count).forEach((value, i) => expect(value).toBeCloseTo(whole[start + i]!, 11))
    }
  })
})

it('reads the input once for all filters of an image', () => {
  const op = getOp('conv2d')
  const p = op.params.parse({ batch: 1, channels: 3, height: 10, filters: 16, kernelHeight: 3 })
  const inner = generatedInputs(op, p, 'f32', 8)
  let elements = 0
  const read: ReadInput = (input, start, count) => {
    if (input === 0) elements += count
    return inner(input, start, count)
  }
  op.reference(p, read, 0, 16 * 100)
  expect(elements).toBe(300)
})

it('moves only what windows touch, and counts products of the padding', () => {
  const op = getOp('conv2d')
  const p = op.params.parse({ batch: 2, channels: 8, height: 7, filters: 4, kernelHeight: 1, stride: 2 })
  expect([op.bytes(p, 'f16'), op.flops(p)]).toEqual([2 * (2 * 8 * 16 + 4 * 8 + 2 * 4 * 16), 2 * 2 * 4 * 16 * 8])
  expect(op.flops(op.params.parse({ batch: 1, channels: 4, height: 5, filters: 2, kernelHeight: 3, groups: 2 }))).toBe(2 * 50 * 2 * 9)
})

it('says what does not fit', () => {
  const message = (params: Params) => getOp('conv1d').params.safeParse({ batch: 1, channels: 6, length: 8, filters: 6, kernel: 3, ...params }).error?.issues[0]?.message
  expect(message({ groups: 4 })).toBe('groups (4) must divide channels (6)')
  expect(message({ filters: 4, groups: 3 })).toBe('groups (3) must divide filters (4)')
  expect(message({ dilation: 4, padding: 0 })).toBe('no output: a kernel of 3 with dilation 4 spans 9 elements, the input with padding has 8')
  expect(message({})).toBeUndefined()
})

it('is labelled as its sizes are written: one word for equal extents', () => {
  const op = getOp('conv2d')
  const label = (params: Params) => op.shapeLabel(op.params.parse({ batch: 2, channels: 64, height: 56, filters: 32, kernelHeight: 3, ...params }))
  expect([label({}), label({ width: 28 }), label({ kernelWidth: 1, stride: 2 })]).toEqual(['n=2 c=64 hw=56 k=32 r=3', 'n=2 c=64 h=56 w=28 k=32 r=3', 'n=2 c=64 hw=56 k=32 s=2 kernelHeight=3 kernelWidth=1'])
})
