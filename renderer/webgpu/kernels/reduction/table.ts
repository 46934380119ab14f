import { widthFor, type Width } from '../../wgsl/header'
import { dimOf, type BufferName, type Kernel, type KernelShape, type Program, type Step } from '../types'
import { columnGroups, foldAcross } from './across'
import { foldAlong } from './along'
import { findExtreme, type Search } from './extreme'
import { foldAt, FOLDS, type Fold } from './fold'

type Float = 'f32' | 'f16'

/** Workgroups that fill any device known here several times over; more pieces would only lengthen the second step. */
const ENOUGH_GROUPS = 4096
/** Shortest piece worth a workgroup of its own, in vectors and in rows. */
const SHORTEST_RUN = 1024
const SHORTEST_COLUMN = 32

const pieces = (length: number, shortest: number, others: number) => Math.max(1, Math.min(Math.ceil(length / shortest), Math.floor(ENOUGH_GROUPS / others)))
const floatOf = (shape: KernelShape): Float => (shape.dtype === 'f16' ? 'f16' : 'f32')

/** [groups, outer, reduce, inner] of x: results are folds over groups and reduce. */
interface Geometry {
  outer: number
  reduce: number
  inner: number
  groups: number
}

const geometryOf = (shape: KernelShape): Geometry => ({ outer: dimOf(shape, 0), reduce: dimOf(shape, 1), inner: dimOf(shape, 2), groups: shape.dims[3] ?? 1 })

/** A tensor on the way through the steps: what it holds and how. */
interface Held {
  from: BufferName
  type: Float
}

/** Builds the steps of one fold, each with scratch space of its own. */
class Steps {
  readonly scratchBytes: number[] = []
  readonly steps: Step[] = []

  constructor(
    private readonly fold: Fold,
    private readonly to: Float,
    private readonly count: number,
  ) {}

  /** Rows of neighbouring elements, into `results` numbers: in one step, or in pieces first where one would leave most of the device idle. */
  rows(x: Held, rows: number, length: number, last: boolean, other?: BufferName): Held {
    // A single row may end in the padding of its tensor, which is zero (tensors.ts): only where zero changes nothing.
    const padded = rows === 1 && this.fold.start === '0.0' && this.steps.length === 0
    const width: Width = padded ? 4 : widthFor(length)
    const vectors = Math.ceil(length / width)
    const parts = pieces(vectors, SHORTEST_RUN, rows)
    const runs = { rows, vectors, width, parts, count: this.count }
    if (parts === 1) return this.#along(x, runs, last, rows, other)
    const partial = this.#along(x, runs, false, rows * parts, other)
    return this.#along(partial, { rows, vectors: parts, width: 1, parts: 1, count: this.count }, last, rows)
  }

  columns(x: Held, outer: number, reduce: number, inner: number, last: boolean): Held {
    const width = widthFor(inner)
    const vectors = inner / width
    const parts = pieces(reduce, SHORTEST_COLUMN, outer * columnGroups(vectors))
    const columns = { outer, reduce, vectors, width, parts, count: this.count }
    if (parts === 1) return this.#across(x, columns, last, outer * inner)
    const partial = this.#across(x, columns, false, outer * parts * inner)
    return this.#across(partial, { ...columns, reduce: parts, parts: 1 }, last, outer * inner)
  }

  #target(last: boolean, elements: number): Held {
    if (last) return { from: 'output', type: this.to }
    this.scratchBytes.push(elements * 4)
    return { from: { scratch: this.scratchBytes.length - 1 }, type: 'f32' }
  }

  #along(x: Held, runs: Parameters<typeof foldAlong>[1], last: boolean, elements: number, other?: BufferName): Held {
    const to = this.#target(last, elements)
    this.steps.push(foldAlong(foldAt(this.fold, { first: this.steps.length === 0, last }), runs, { from: x.type, to: to.type }, x.from, to.from, other))
    return to
  }

  #across(x: Held, columns: Parameters<typeof foldAcross>[1], last: boolean, elements: number): Held {
    const to = this.#target(last, elements)
    this.steps.push(foldAcross(foldAt(this.fold, { first: this.steps.length === 0, last }), columns, { from: x.type, to: to.type }, x.from, to.from))
    return to
  }
}

const folding = (fold: Fold): Kernel => ({
  dtypes: ['f32', 'f16'],
  build: (shape): Program => {
    const { outer, reduce, inner, groups } = geometryOf(shape)
    const steps = new Steps(fold, floatOf(shape), groups * reduce)
    const x: Held = { from: { input: 0 }, type: floatOf(shape) }
    const whole = groups === 1
    const part = inner === 1 ? steps.rows(x, groups * outer, reduce, whole) : steps.columns(x, groups * outer, reduce, inner, whole)
    if (!whole) steps.columns(part, 1, groups, outer * inner, true)
    return steps
  },
})

const dot: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape): Program => {
    const n = dimOf(shape, 0)
    const steps = new Steps(FOLDS['sum']!, floatOf(shape), n)
    steps.rows({ from: { input: 0 }, type: floatOf(shape) }, 1, n, true, { input: 1 })
    return steps
  },
}

const extreme = (better: '>' | '<'): Kernel => ({
  dtypes: ['f32', 'f16'],
  build: (shape): Program => {
    const { outer, reduce, inner, groups } = geometryOf(shape)
    const outputs = groups * outer * inner
    const scratchBytes: number[] = []
    const steps: Step[] = []
    // Pairs of values and indices on the way: each step leaves fewer of them, the last one the indices alone.
    let source: Parameters<typeof findExtreme>[2] = { x: { input: 0 }, type: floatOf(shape) }
    const search = (geometry: Search, results: number, last: boolean) => {
      const pairs = { values: { scratch: scratchBytes.length }, indices: { scratch: scratchBytes.length + 1 } }
      steps.push(findExtreme(better, geometry, source, last ? { indices: 'output' } : pairs))
      if (last) return
      scratchBytes.push(results * 4, results * 4)
      source = pairs
    }
    const rows = groups * outer
    const parts = inner === 1 ? pieces(reduce, 4 * SHORTEST_RUN, rows) : pieces(reduce, SHORTEST_COLUMN, rows * columnGroups(inner))
    const whole = groups === 1
    search({ outer: rows, reduce, inner, parts }, outputs * parts, parts === 1 && whole)
    if (parts > 1) search({ outer: rows, reduce: parts, inner, parts: 1 }, outputs, whole)
    if (!whole) search({ outer: 1, reduce: groups, inner: outer * inner, parts: 1, span: reduce }, outer * inner, true)
    return { scratchBytes, steps }
  },
})

const kernels: Readonly<Record<string, Kernel>> = {
  ...Object.fromEntries(Object.entries(FOLDS).map(([op, fold]) => [op, folding(fold)])),
  // The gradient of a broadcast is a sum under another name.
  sum_to_shape: folding(FOLDS['sum']!),
  dot,
  argmax: extreme('>'),
  argmin: extreme('<'),
}
export default kernels
