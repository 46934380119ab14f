import type { Dtype, Params } from '../case'
import { defineOp, inputsOf, outputsOf, oncePerRead } from './define'
import type { CompositePart, InputValues, Op, OpDefinition, PartSource, ReadInput } from './types'

/** What one part is and costs: operations, and its least bytes as if it ran alone. */
export interface PartCost {
  name: string
  op: Op
  params: Params
  flops: number
  bytes: number
}

/** The parts of an op with parsed parameters, in order; none where it is not composite. */
export const partCosts = (op: Op, p: Params, dtype: Dtype): PartCost[] =>
  (op.parts?.(p) ?? []).map(({ name, op: partOp, params }) => {
    const parsed = partOp.params.parse(params)
    return { name, op: partOp, params: parsed, flops: partOp.flops(parsed), bytes: partOp.bytes(parsed, dtype) }
  })

type Derived = 'flops' | 'unit' | 'granule' | 'reference'

/**
 * An op that runs a list of ops in order, their tensors joined, and has one output. Operations are those of the parts; the
 * least bytes are those of the composite's own tensors, since what lies between the parts need not leave the chip.
 * The reference evaluates the parts in float64, as far as the elements asked for depend on them.
 */
export function defineComposite<P extends Params>(definition: Omit<OpDefinition<P>, Derived> & { parts(p: P): readonly CompositePart[] }): Op {
  const dtype = definition.dtypes[0]!
  return defineOp<P>({
    ...definition,
    flops: (p) => definition.parts(p).reduce((sum, { op, params }) => sum + op.flops(op.params.parse(params)), 0),
    unit: (of) => (of === 'f32' ? 'vector' : 'matrix'),
    granule: (p) => definition.tensors(p, dtype).find(({ role }) => role === 'out')!.shape.at(-1)!,
    reference: (p, read, start, count) => {
      const tensors = definition.tensors(p, dtype).flatMap(({ name, role }) => (role === 'out' ? [] : [name]))
      return oncePerRead(read, `${definition.id} ${JSON.stringify(p)}`, () => lastOutput(tensors, definition.parts(p), read)).elements(start, count).slice()
    },
  })
}

/** The output of the last part, ready to be evaluated. */
function lastOutput(tensors: readonly string[], parts: readonly CompositePart[], read: ReadInput): Intermediate {
  const outputs = new Map<string, Intermediate>()
  for (const { name, op, params, inputs } of parts) {
    const p = op.params.parse(params)
    const sources = inputsOf(op, p, op.dtypes[0]!).map((tensor) => readerOf(inputs[tensor.name]!, tensors, outputs, read))
    outputs.set(`${name}.${outputsOf(op, p, op.dtypes[0]!)[0]!.name}`, new Intermediate(op, p, (input, start, count) => sources[input]!(start, count)))
  }
  return [...outputs.values()].at(-1)!
}

type ReadElements = (start: number, count: number) => InputValues

function readerOf(source: PartSource, tensors: readonly string[], outputs: ReadonlyMap<string, Intermediate>, read: ReadInput): ReadElements {
  const of = typeof source === 'string' ? source : source.of
  const made = outputs.get(of)
  const input = tensors.indexOf(of)
  if (!made && input < 0) throw new Error(`a part reads "${of}", which is no tensor and no output of an earlier part`)
  const whole: ReadElements = made ? (start, count) => made.elements(start, count) : (start, count) => read(input, start, count)
  if (typeof source === 'string') return whole
  return (start, count) => {
    const runs = runsOf(source, start, count)
    made?.evaluate(runs)
    const out = new Float64Array(count)
    for (const { from, length, at } of runs) out.set(whole(from, length), at)
    return out
  }
}

/** `length` elements of a source from `from` on, which are elements from `at` on of what was asked for. */
interface Run {
  from: number
  length: number
  at: number
}

/** Elements `start .. start + count` of a view, as runs of neighbours in its source. */
function runsOf({ offset = 0, shape, strides }: Exclude<PartSource, string>, start: number, count: number): Run[] {
  const adjacent = strides.at(-1) === 1
  const inner = adjacent ? shape.at(-1)! : 1
  const runs: Run[] = []
  for (let done = 0; done < count; ) {
    const within = (start + done) % inner
    let rest = Math.floor((start + done) / inner)
    let from = offset + within
    for (let axis = shape.length - (adjacent ? 2 : 1); axis >= 0; axis--) {
      from += (rest % shape[axis]!) * strides[axis]!
      rest = Math.floor(rest / shape[axis]!)
    }
    const length = Math.min(inner - within, count - done)
    runs.push({ from, length, at: done })
    done += length
  }
  return runs
}

/** Elements of a page of an intermediate tensor, about, and of a unit where a part computes each alone. */
const PAGE = 1 << 18
const UNIT = 256

interface Page {
  values: Float64Array
  /** Which units hold values. */
  known: Uint8Array
}

/** The first output of a part, evaluated where it is asked for, once, and kept in pages. */
class Intermediate {
  readonly #reference: (start: number, count: number) => Float64Array
  readonly #elements: number
  /** Elements that are evaluated together: a row of a matrix shares most of its work. */
  readonly #unit: number
  readonly #unitsPerPage: number
  readonly #pages = new Map<number, Page>()

  constructor(op: Op, params: Params, read: ReadInput) {
    const { elements, shape } = outputsOf(op, params, op.dtypes[0]!)[0]!
    const granule = op.granule(params)
    this.#reference = (start, count) => op.reference(params, read, start, count)
    this.#elements = elements
    this.#unit = shape.length > 1 ? Math.max(granule, shape.at(-1)!) : granule === 1 ? UNIT : granule
    this.#unitsPerPage = Math.max(1, Math.floor(PAGE / this.#unit))
  }

  /** Shared: do not write to it. */
  elements(start: number, count: number): Float64Array {
    this.evaluate([{ from: start, length: count }])
    const size = this.#unit * this.#unitsPerPage
    const rest = (at: number) => this.#page(Math.floor(at / size)).values.subarray(at % size)
    const first = rest(start)
    if (count <= first.length) return first.subarray(0, count)
    const out = new Float64Array(count)
    for (let done = 0; done < count; ) {
      const some = rest(start + done).subarray(0, count - done)
      out.set(some, done)
      done += some.length
    }
    return out
  }

  /** Evaluates what is not known yet of these runs, neighbours together. */
  evaluate(runs: readonly { from: number; length: number }[]): void {
    const missing = new Set<number>()
    for (const { from, length } of runs) {
      for (let unit = Math.floor(from / this.#unit); unit * this.#unit < from + length; unit++) {
        if (!this.#page(Math.floor(unit / this.#unitsPerPage)).known[unit % this.#unitsPerPage]) missing.add(unit)
      }
    }
    const units = [...missing].sort((a, b) => a - b)
    for (let i = 0; i < units.length; ) {
      const first = units[i]!
      let count = 1
      // A page at once, since the part asks its own sources for as many rows.
      while (units[i + count] === first + count && count < this.#unitsPerPage) count++
      i += count
      const start = first * this.#unit
      this.#keep(first, this.#reference(start, Math.min(count * this.#unit, this.#elements - start)))
    }
  }

  #keep(first: number, values: Float64Array): void {
    for (let unit = first, at = 0; at < values.length; unit++, at += this.#unit) {
      const page = this.#page(Math.floor(unit / this.#unitsPerPage))
      page.values.set(values.subarray(at, at + this.#unit), (unit % this.#unitsPerPage) * this.#unit)
      page.known[unit % this.#unitsPerPage] = 1
    }
  }

  #page(index: number): Page {
    let page = this.#pages.get(index)
    const size = this.#unit * this.#unitsPerPage
    if (!page) this.#pages.set(index, (page = { values: new Float64Array(Math.min(size, this.#elements - index * size)), known: new Uint8Array(this.#unitsPerPage) }))
    return page
  }
}
