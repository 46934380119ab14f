import { FOLDS } from '../reduction/fold'
import { FoldSteps } from '../reduction/steps'
import type { KernelShape, Program, Step } from '../types'

/** Adds up the parts of `outputs` sums of each product that `first` writes to scratch 0. */
export function joinedParts(first: Step, shape: KernelShape, products: number, outputs: number, parts: number): Program {
  const sum = new FoldSteps(shape, FOLDS['sum']!, shape.dtype === 'f16' ? 'f16' : 'f32', parts, 'output', 1)
  sum.columns({ from: { scratch: 0 }, type: 'f32' }, products, parts, outputs, true)
  return { scratchBytes: [4 * products * parts * outputs, ...sum.scratchBytes], steps: [first, ...sum.steps] }
}
