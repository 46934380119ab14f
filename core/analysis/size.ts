import type { BenchmarkCase } from '../case'
import { findOp } from '../ops/registry'

const sizes = new WeakMap<BenchmarkCase, number>()

/** Elements of the largest tensor of a case: the size axis of charts. Undefined for an op this app does not have. */
export function elementsOf(c: BenchmarkCase): number | undefined {
  let size = sizes.get(c)
  if (size === undefined) sizes.set(c, (size = largestTensor(c)))
  return size > 0 ? size : undefined
}

function largestTensor(c: BenchmarkCase): number {
  const op = findOp(c.op)
  const parsed = op?.params.safeParse(c.params)
  if (!op || !parsed?.success) return 0
  const shapes = [op.outputShape(parsed.data), ...op.inputs(parsed.data).map((input) => input.shape)]
  return Math.max(...shapes.map((shape) => shape.reduce((a, b) => a * b, 1)))
}
