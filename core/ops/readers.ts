import type { Dtype, Params } from '../case'
import { fillRange } from '../values/random'
import { inputsOf } from './define'
import type { Op, ReadInput } from './types'

/** Reads the inputs that every backend makes for this op and seed, generated on demand. */
export function generatedInputs(op: Op, params: Params, dtype: Dtype, seed: number): ReadInput {
  const tensors = inputsOf(op, op.params.parse(params), dtype)
  return (input, start, count) => {
    const tensor = tensors[input]
    if (!tensor?.fill) throw new Error(`"${op.id}" reads input ${input}; it fills ${tensors.length} tensors`)
    return fillRange(seed, input, tensor.fill, tensor.storage, start, count)
  }
}

/** Reads given tensors; for small results worked out by hand. */
export function givenInputs(...tensors: readonly (readonly number[])[]): ReadInput {
  return (input, start, count) => {
    const tensor = tensors[input]!
    if (start + count > tensor.length) throw new RangeError(`read of ${start}..${start + count} from input ${input} with ${tensor.length} elements`)
    return Float32Array.from(tensor.slice(start, start + count))
  }
}
