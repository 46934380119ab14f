import { mapped } from '../../wgsl/mapped'
import { withMadeWeights } from './made-weights'
import { dimOf, type KernelShape, type Program } from '../types'

/** Extents of an axis in the op's dims begin here, four of each: input, kernel, padding, output. */
export const AXES_AT = [6, 10, 14]
/** Multiply-adds with padding that take longer than copying the other weights, and how many of the taps must be left out. */
const LEAST_SAVED = 2 ** 20
const LEAST_LEFT_OUT = 1 / 3

/** The taps along an axis outside of which none meets an element for any output; at least one, and none before whose place padding would be negative. */
export function reach(input: number, kernel: number, padding: number, output: number, stride: number, dilation: number): { first: number; count: number } {
  const first = Math.max(0, Math.min(Math.ceil((padding - (output - 1) * stride) / dilation), Math.floor(padding / dilation), kernel - 1))
  const last = Math.max(first, Math.min(kernel - 1, Math.floor((padding + input - 1) / dilation)))
  return { first, count: last - first + 1 }
}

/** The shape of the convolution with the taps that meet elements alone, and where these begin along each axis. Undefined where that saves little. */
export function reached(shape: KernelShape): { shape: KernelShape; firsts: number[] } | undefined {
  const [stride, dilation] = [dimOf(shape, 4), dimOf(shape, 5)]
  const dims = [...shape.dims]
  const firsts: number[] = []
  for (const at of AXES_AT) {
    const [input, kernel, padding, output] = [0, 1, 2, 3].map((i) => dimOf(shape, at + i)) as [number, number, number, number]
    const { first, count } = reach(input, kernel, padding, output, stride, dilation)
    firsts.push(first)
    dims.splice(at + 1, 2, count, padding - first * dilation)
  }
  const volume = (of: readonly number[], i: number) => AXES_AT.reduce((product, at) => product * of[at + i]!, 1)
  const left = volume(shape.dims, 1) - volume(dims, 1)
  const saved = dimOf(shape, 0) * dimOf(shape, 2) * (dimOf(shape, 1) / dimOf(shape, 3)) * volume(shape.dims, 3) * left
  return left >= LEAST_LEFT_OUT * volume(shape.dims, 1) && saved >= LEAST_SAVED ? { shape: { ...shape, dims }, firsts } : undefined
}

/** `program`, for the shape with fewer taps, on weights of these alone, which a step copies first. */
export function withReachedWeights(whole: KernelShape, { shape, firsts }: { shape: KernelShape; firsts: readonly number[] }, program: Program): Program {
  const kernels = (of: KernelShape) => AXES_AT.map((at) => dimOf(of, at + 1)) as [number, number, number]
  const [[, h, w], taps] = [kernels(whole), kernels(shape)]
  const count = dimOf(shape, 2) * (dimOf(shape, 1) / dimOf(shape, 3)) * taps[0] * taps[1] * taps[2]
  // dims 1 to 3: taps left along each axis; 4 to 6: all taps; 7: the first one.
  return withMadeWeights(whole, program, count, (weights) => mapped({
    tensors: [{ name: 'weight', at: { input: 1 } }, { name: 'out', at: weights, write: true }],
    body: `  let row = i / dim(3u);
  let plane = row / dim(2u);
  let at = ((plane / dim(1u) * dim(4u) + plane % dim(1u)) * dim(5u) + row % dim(2u)) * dim(6u) + i % dim(3u) + dim(7u);
  out[i] = weight[at];`,
    dims: [...taps, ...kernels(whole), (firsts[0]! * h + firsts[1]!) * w + firsts[2]!],
  }, shape.dtype, count))
}
