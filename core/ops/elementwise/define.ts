import type { Dtype, Params } from '../../case'
import type { FillSpec } from '../../values/random'
import { isTensor, shapeAt, type AtenCall } from '../aten'
import type { AttributeSpec } from '../attributes'
import { defineOp, elementsOf, MAX_EXTENT, divisorUpTo } from '../define'
import { vector, type SizeForm } from '../forms'
import type { ComputeUnit, Family, Op, ReadInput, Tolerance } from '../types'

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
  /** The aten calls of it where they are not called like it, or have more to look at than shapes. */
  aten?: { names?: readonly string[]; attributes?(call: AtenCall): Params | undefined }
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
    ...(e.shape ? {} : { aten: [{ names: e.aten?.names ?? [e.id], params: (call: AtenCall) => calledWith(e, call) }] }),
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

/** The parameters of a call on tensors of one shape, or of two of which the second is spread over the first. */
function calledWith(e: Elementwise, call: AtenCall): Params | undefined {
  const shapes = e.inputs.map((_, i) => shapeAt(call, i))
  const [first, second] = shapes
  const more = e.aten?.attributes ? e.aten.attributes(call) : {}
  // A tensor more than the op has makes it another one.
  if (!first || shapes.includes(undefined) || more === undefined || isTensor(call.args[e.inputs.length])) return undefined
  const n = elementsOf(first)
  if (shapes.every((shape) => shape!.join() === first.join())) return { n, ...more }
  const spread = e.broadcasts && second ? spreadOf(first, second) : undefined
  return spread && { n, ...spread, ...more }
}

/** How `second` is spread over `first`: as one element, as a row of the last axes, or as a column of the first ones. */
function spreadOf(first: readonly number[], second: readonly number[]): Params | undefined {
  if (elementsOf(second) === 1) return { broadcast: 'scalar' }
  const trimmed = second.slice(second.findIndex((extent) => extent !== 1))
  if (first.slice(-trimmed.length).join() === trimmed.join()) return { broadcast: 'row', cols: elementsOf(trimmed) }
  const ones = [...second].reverse().findIndex((extent) => extent !== 1)
  const kept = second.length - ones
  if (second.length === first.length && first.slice(0, kept).join() === second.slice(0, kept).join()) return { broadcast: 'column', cols: elementsOf(first.slice(kept)) }
  return undefined
}

/** Shapes of the second operand, in the order of the number kernels get for each. */
const BROADCASTS = ['none', 'row', 'column', 'scalar'] as const
export type Broadcast = (typeof BROADCASTS)[number]

/**
 * Attributes of ops whose second operand may be smaller. The n elements are then read as rows of `cols`, and the second
 * operand is one row [cols], one column [n/cols, 1] or one element.
 */
const broadcastAttributes: Readonly<Record<string, AttributeSpec>> = {
  broadcast: { title: 'Broadcast', kind: 'choice', words: BROADCASTS, default: 'none' },
  cols: { title: 'Columns', kind: 'number', whole: true, default: 0, min: 0, max: MAX_EXTENT },
}

/** n elements as rows, and how the second operand is spread over them. */
interface BroadcastShape {
  kind: Broadcast
  n: number
  cols: number
}

/** `cols` 0 stands for the largest divisor of n not above its square root. */
function broadcastOf(p: Params): BroadcastShape {
  const n = p['n'] as number
  return { kind: p['broadcast'] as Broadcast, n, cols: (p['cols'] as number) || divisorUpTo(n, Math.floor(Math.sqrt(n))) }
}

/** Why these parameters do not fit together. */
function refuseBroadcast({ n, broadcast, cols }: Params): string | undefined {
  if (cols === 0) return undefined
  if (broadcast !== 'row' && broadcast !== 'column') return `cols takes effect with broadcast row or column only, received broadcast ${String(broadcast)}`
  return (n as number) % (cols as number) === 0 ? undefined : `expected cols to divide n, received cols ${String(cols)} and n ${String(n)}`
}

/** dims: [n], or [n, cols, 1 row | 2 column | 3 scalar]. */
const broadcastDims = ({ kind, n, cols }: BroadcastShape): number[] => (kind === 'none' ? [n] : [n, cols, BROADCASTS.indexOf(kind)])

/** Shapes of the first operand, which is also that of the output, and of the second. PyTorch's broadcasting joins them. */
function broadcastShapes({ kind, n, cols }: BroadcastShape): { whole: number[]; second: number[] } {
  if (kind === 'none' || kind === 'scalar') return { whole: [n], second: [kind === 'none' ? n : 1] }
  return { whole: [n / cols, cols], second: kind === 'row' ? [cols] : [n / cols, 1] }
}

/** The second operand, tensor 1, for elements `start .. start + count`. */
function spread({ kind, cols }: BroadcastShape, read: ReadInput, start: number, count: number): ArrayLike<number> {
  if (kind === 'none') return read(1, start, count)
  const out = new Float64Array(count)
  if (kind === 'scalar') return out.fill(read(1, 0, 1)[0]!)
  if (kind === 'column') {
    const first = Math.floor(start / cols)
    const values = read(1, first, Math.floor((start + count - 1) / cols) - first + 1)
    for (let i = 0; i < count; i++) out[i] = values[Math.floor((start + i) / cols) - first]!
    return out
  }
  // A range shorter than a row takes the one or two pieces of it that it needs.
  const from = start % cols
  const pieces = from + count <= cols ? [read(1, from, count)] : count < cols ? [read(1, from, cols - from), read(1, 0, from + count - cols)] : []
  if (pieces.length > 0) {
    let at = 0
    for (const piece of pieces) for (const value of piece) out[at++] = value
    return out
  }
  const row = read(1, 0, cols)
  for (let i = 0, column = from; i < count; i++, column = column + 1 === cols ? 0 : column + 1) out[i] = row[column]!
  return out
}
