import type { Dtype, Params } from '../../case'
import type { FillSpec } from '../../values/random'
import type { AttributeSpec } from '../attributes'
import { defineOp, elementsOf } from '../define'
import { vector, type SizeForm } from '../forms'
import type { ComputeUnit, Family, Op, ReadInput, Tolerance } from '../types'
import { broadcastAttributes, broadcastDims, broadcastOf, broadcastShapes, refuseBroadcast, spread } from './broadcast'

/** What one element-wise operation states; everything else follows from it. */
export interface Elementwise {
  id: string
  family: Family
  summary: string
  torch: string
  representative?: boolean
  /** Names of its input tensors, all of the shape of the output; none for an op that only writes. */
  inputs: readonly string[]
  /** Inputs that are not filled from the normal fill of scale 1, by name. */
  fills?: Readonly<Record<string, FillSpec>>
  /** Real numbers of a call, handed to kernels as scalars in this order. */
  attributes?: Readonly<Record<string, AttributeSpec & { kind: 'number' }>>
  /** True where the second of two inputs may be one row, one column or one element; see broadcast.ts. */
  broadcasts?: boolean
  /** Sizes and the shape they give; default: a vector of n. */
  shape?: { form: SizeForm; of: (p: Params) => readonly number[] }
  /** Operations per element. */
  flops: number
  unit?: ComputeUnit
  /** Work units of the reference per element (about one multiply-add each). */
  cost: number
  /** float64 result of one element, from its inputs and the scalars. */
  at: (inputs: readonly number[], scalars: readonly number[]) => number
  tolerance: (dtype: Dtype) => Tolerance
}

const NORMAL: FillSpec = { kind: 'normal', scale: 1 }

/**
 * An op that makes each output element from the same element of its inputs. Each tensor moves once.
 * dims: [n], n the elements of the output; with a broadcast second input [n, cols, 1 row | 2 column | 3 scalar].
 * scalars: the attributes in their order, rounded to f32 as kernels take them.
 */
export function elementwise(e: Elementwise): Op {
  const { form, of } = e.shape ?? { form: vector, of: (p: Params) => [p['n'] as number] }
  const shapeOf = (p: Params, name: string): readonly number[] => {
    if (!e.broadcasts) return of(p)
    const { whole, second } = broadcastShapes(broadcastOf(p))
    return name === e.inputs[1] ? second : whole
  }
  const elements = (p: Params) => elementsOf(of(p))
  const scalars = (p: Params) => Object.keys(e.attributes ?? {}).map((name) => Math.fround(p[name] as number))
  const operand = (p: Params, read: ReadInput, start: number, count: number) => (_name: string, i: number) => (e.broadcasts && i === 1 ? spread(broadcastOf(p), read, start, count) : read(i, start, count))
  return defineOp<Params>({
    id: e.id,
    family: e.family,
    summary: e.summary,
    torch: e.torch,
    ...(e.representative ? { representative: true } : {}),
    size: form,
    attributes: { ...e.attributes, ...(e.broadcasts ? broadcastAttributes : {}) },
    ...(e.broadcasts ? { refuse: refuseBroadcast } : {}),
    dtypes: ['f32', 'f16', 'bf16'],
    tensors: (p) => [...e.inputs.map((name) => ({ name, shape: shapeOf(p, name), role: 'in' as const, fill: e.fills?.[name] ?? NORMAL })), { name: 'out', shape: shapeOf(p, 'out'), role: 'out' as const }],
    dims: (p) => (e.broadcasts ? broadcastDims(broadcastOf(p)) : [elements(p)]),
    scalars,
    flops: (p) => e.flops * elements(p),
    unit: () => e.unit ?? 'vector',
    referenceCost: () => e.cost,
    reference: (p, read, start, count) => {
      const tensors = e.inputs.map(operand(p, read, start, count))
      const numbers = scalars(p)
      const out = new Float64Array(count)
      const inputs = new Array<number>(tensors.length).fill(0)
      for (let i = 0; i < count; i++) {
        for (let t = 0; t < tensors.length; t++) inputs[t] = tensors[t]![i]!
        out[i] = e.at(inputs, numbers)
      }
      return out
    },
    tolerance: (_p, dtype) => e.tolerance(dtype),
  })
}
