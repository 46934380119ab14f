import type { Dtype } from '../case'
import { attributeWords } from '../ops/attributes'
import { tensorsOf } from '../ops/define'
import type { Op } from '../ops/types'
import { parseSizes, sizeParams } from './sizes'

/** What one call of an operation is, at one size. */
export interface OpHelp {
  summary: string
  /** The PyTorch call that means the same. */
  torch: string
  dtype: Dtype
  /** Size that the figures are of: `4Mi`, `2048x2048`. */
  shape: string
  /** Tensors of the call in order, the last ones its outputs: `x 2048x2048 f32`. */
  inputs: readonly string[]
  outputs: readonly string[]
  /** Minimum memory traffic in bytes: each input read once, each output written once. */
  bytes: number
  /** Operations: one per add, multiply, compare or transcendental. */
  flops: number
}

/**
 * Help on an operation, with the cost of a call at the first size of `sizes` (a text of its size form); the form's own
 * example stands in where that cannot be read or does not fit.
 */
export function opHelp(op: Op, sizes: string | undefined, dtype: Dtype = op.dtypes[0]!): OpHelp {
  const own = op.dtypes.includes(dtype) ? dtype : op.dtypes[0]!
  const choices = Object.fromEntries(Object.entries(op.attributes).flatMap(([name, spec]) => (spec.kind === 'choice' && spec.default === undefined ? [[name, spec.words[0]]] : [])))
  const params = [sizes ?? '', op.size.presets['medium'] ?? '', op.size.example].flatMap((text) => {
    const read = parseSizes(op.size, text)
    const first = read.ok ? read.sizes[0] : undefined
    const parsed = first && op.params.safeParse({ ...sizeParams(op.size, first), ...choices })
    return parsed?.success ? [parsed.data] : []
  })[0]
  if (!params) throw new Error(`${op.id} takes no size of its own form`)
  const tensors = tensorsOf(op, params, own).map(({ name, shape, storage, role }) => ({ role, text: `${name} ${shape.join('x') || '1'} ${storage}` }))
  return {
    summary: op.summary,
    torch: op.torch,
    dtype: own,
    shape: [op.shapeLabel(params), ...attributeWords(op.attributes, choices)].join(' '),
    inputs: tensors.filter(({ role }) => role !== 'out').map(({ text }) => text),
    outputs: tensors.filter(({ role }) => role !== 'in').map(({ text }) => text),
    bytes: op.bytes(params, own),
    flops: op.flops(params),
  }
}
