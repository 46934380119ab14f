import type { Params } from '../case'
import type { Op, ReadInput } from './types'

/** Step of the differences: f32 inputs near 1 hold it with three digits to spare. */
const STEP = 2 ** -10

/**
 * Slopes of sum(grad * out) of a forward op by each of the first `count` elements of input `input`, as central differences of
 * its reference: what a backward op gives, by another way, to about three digits.
 */
export function differences(op: Op, params: Params, read: ReadInput, input: number, count: number, grad: readonly number[]): Float64Array {
  const objective = (at: number, shift: number) => {
    const moved: ReadInput = (from, start, length) => {
      const values = Float32Array.from(read(from, start, length))
      if (from === input && at >= start && at < start + length) values[at - start]! += shift
      return values
    }
    return op.reference(params, moved, 0, grad.length).reduce((sum, value, i) => sum + value * grad[i]!, 0)
  }
  return Float64Array.from({ length: count }, (_, at) => (objective(at, STEP) - objective(at, -STEP)) / (2 * STEP))
}
