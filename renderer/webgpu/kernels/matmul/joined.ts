import { FOLDS } from '../reduction/fold'
import { FoldSteps } from '../reduction/steps'
import type { KernelShape, Program, Step } from '../types'

/** Adds up the parts of `outputs` sums of each product that `first` writes to scratch 0; into scratch 1 as f32 where the target is that. */
export function joinedParts(first: Step, shape: KernelShape, products: number, outputs: number, parts: number, target: 'output' | { scratch: 1 } = 'output'): Program {
  const own = target === 'output'
  const sum = new FoldSteps(shape, FOLDS['sum']!, own && shape.dtype === 'f16' ? 'f16' : 'f32', parts, target, own ? 1 : 2)
  sum.columns({ from: { scratch: 0 }, type: 'f32' }, products, parts, outputs, true)
  return { scratchBytes: [4 * products * parts * outputs, ...(own ? [] : [4 * products * outputs]), ...sum.scratchBytes], steps: [first, ...sum.steps] }
}
