import type { Params } from '../case'
import addResidual from './add_residual/op'
import elementwise from './elementwise/table'
import type { CompositePart, Op, PartSource } from './types'

/** A strided view of an earlier part's output; with a bias, of that output as rows to each of which `bias.of` is added, as part `bias.part` of the composite. */
export type View = Exclude<PartSource, string> & { bias?: { of: string; part: string } }

/** A part of a composite as it is computed: perhaps several that the op lists. */
export interface JoinedPart {
  /** What other parts read its output by. */
  name: string
  /** The names of all parts that it computes: `fc1_bias+gelu`. */
  title: string
  op: Op
  params: Params
  inputs: Readonly<Record<string, string | View>>
}

const addGelu = elementwise.find(({ id }) => id === 'add_gelu')!

/** Sources of a part that adds a bias to every row; undefined for others. */
function biasOf({ op, params, inputs: { a, b } }: CompositePart): { of: string; bias: string; n: number; cols: number } | undefined {
  if (op.id !== 'add' || params['broadcast'] !== 'row' || typeof a !== 'string' || typeof b !== 'string') return undefined
  return { of: a, bias: b, n: params['n'] as number, cols: params['cols'] as number }
}

/** Whether the view lies within rows of `cols` elements. */
const inRows = ({ offset = 0, shape, strides }: View, cols: number): boolean =>
  shape.length === 4 && strides[2] === cols && strides[0]! % cols === 0 && offset + (shape[1]! - 1) * strides[1]! + shape[3]! <= cols

/** The part with the bias that only it reads, added in the same pass; undefined where no op does both. */
function withBias(reader: JoinedPart, biased: CompositePart): JoinedPart | undefined {
  const made = `${biased.name}.out`
  const { of, bias, n, cols } = biasOf(biased)!
  const title = `${biased.name}+${reader.title}`
  const reads = Object.entries(reader.inputs).filter(([, source]) => (typeof source === 'string' ? source : source.of) === made)
  const views = reads.flatMap(([tensor, source]) => (typeof source === 'string' ? [] : [[tensor, source] as const]))
  if (views.length === reads.length) {
    if (!views.every(([, view]) => inRows(view, cols))) return undefined
    return { ...reader, inputs: { ...reader.inputs, ...Object.fromEntries(views.map(([tensor, view]) => [tensor, { ...view, of, bias: { of: bias, part: biased.name } }])) } }
  }
  if (reads.length > 1) return undefined
  if (reader.op.id === 'gelu') return { ...reader, title, op: addGelu, params: { n, broadcast: 'row', cols }, inputs: { a: of, b: bias } }
  const { broadcast = 'none' } = reader.params
  if (reader.op.id !== 'add' || broadcast !== 'none') return undefined
  const [other] = Object.values(reader.inputs).filter((source) => source !== made)
  return { ...reader, title, op: addResidual, params: { rows: n / cols, cols }, inputs: { a: of, b: bias, c: other! } }
}

/**
 * The parts of a composite in order, a bias joined with the one part that reads what it gives, where an op of family `part` does both in
 * one pass over memory: gelu, the sum with a residual, copies of views.
 */
export function joinParts(parts: readonly CompositePart[]): JoinedPart[] {
  const joined: JoinedPart[] = parts.map((part) => ({ ...part, title: part.name }))
  const left = new Set<number>()
  for (const [i, part] of parts.entries()) {
    if (!biasOf(part)) continue
    const readers = parts.flatMap(({ inputs }, at) => (Object.values(inputs).some((source) => (typeof source === 'string' ? source : source.of) === `${part.name}.out`) ? [at] : []))
    const together = readers.length === 1 ? withBias(joined[readers[0]!]!, part) : undefined
    if (!together) continue
    joined[readers[0]!] = together
    left.add(i)
  }
  return joined.filter((_, i) => !left.has(i))
}
