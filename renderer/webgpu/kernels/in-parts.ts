import { STORAGE_BYTES } from '@core/case'
import type { Tensor } from '@core/ops/types'
import { windowsOf } from '../gpu/tensors'
import type { Kernel, KernelShape, Program } from './types'

/** What a binding is longer than its elements at most, in bytes: tensors end in a whole vector. */
const PADDING = 16

/** The program of a shape whose tensors may be larger than the `bytes` that one binding holds: of an element-wise kernel in parts, of others as it is. */
export function programInParts(kernel: Kernel, shape: KernelShape, tensors: readonly Pick<Tensor, 'elements' | 'storage'>[], bytes: number): Program {
  const widest = Math.max(...tensors.map(({ storage }) => STORAGE_BYTES[storage]))
  const whole = tensors.every(({ elements }) => elements === shape.dims[0])
  const windows = whole && shape.dims.length === 1 && kernel.elementwise ? windowsOf(shape.dims[0]!, widest, bytes - PADDING) : []
  if (windows.length <= 1) return kernel.build(shape)
  return { scratchBytes: [], steps: windows.flatMap((window) => kernel.build({ ...shape, dims: [window.count] }).steps.map((step) => ({ ...step, window }))) }
}
