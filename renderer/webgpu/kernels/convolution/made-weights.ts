import type { BufferName, KernelShape, Program } from '../types'

/** `program` on weights that a step makes of those of the case first: `count` elements of the case's type, in scratch space. */
export function withMadeWeights({ dtype }: Pick<KernelShape, 'dtype'>, program: Program, count: number, make: (weights: BufferName) => Program): Program {
  const weights = { scratch: program.scratchBytes.length }
  const bytes = Math.ceil((count * (dtype === 'f16' ? 2 : 4)) / 4) * 4
  const steps = program.steps.map((step) => ({ ...step, buffers: step.buffers.map((buffer) => (typeof buffer === 'object' && 'input' in buffer && buffer.input === 1 ? weights : buffer)) }))
  return { scratchBytes: [...program.scratchBytes, bytes], steps: [...make(weights).steps, ...steps] }
}
