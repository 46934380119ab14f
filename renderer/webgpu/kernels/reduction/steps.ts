import { THREADS, widthFor, type Width } from '../../wgsl/header'
import { arrivalBytes } from '../../wgsl/arrivals'
import type { BufferName, DeviceLimits, Step } from '../types'
import { columnsOf, foldAcross, foldAlong, foldAt, type Runs, threadsAcross, type Times, type Pair, type Fold } from './fold'

export type Float = 'f32' | 'f16'

/** [groups, outer, reduce, inner] of x: results are folds over groups and reduce. */
export interface Geometry {
  outer: number
  reduce: number
  inner: number
  groups: number
}

/** Elements up to which a reduction over the first and the last axis is one step whatever its runs: reads jump between these, and caches hold what they skip. Runs of so many are worth a jump. */
export const GROUPED_ELEMENTS = 2 ** 20
export const LONG_RUN = 64
/** Elements of a result up to which one workgroup takes them all: its threads have them on their way together. */
export const GROUPED_RESULT = 4096

/** Workgroups that fill any device known here several times over; more pieces would only lengthen the second step. Each of a fold of columns ends with a step over its threads: of those, by width, no more than have enough reads on their way. */
const ENOUGH_GROUPS = 4096
const ENOUGH_OF_COLUMNS = { 1: 1024, 4: 512 } as const
/** Pieces of a result that its last workgroup joins: beyond, a second step is as fast. */
const MOST_JOINED = 2048
/** A run of so many elements alone, 64 MiB of f32, and its pieces: so many workgroups run at once on the devices known here, and none is left for a second round. */
const LONGEST = { elements: 2 ** 24, pieces: 1056 }
/** Pieces of each of `rows` runs of so many elements at most. */
export const mostPieces = (rows: number, elements: number): number => (rows === 1 && elements >= LONGEST.elements ? LONGEST.pieces : MOST_JOINED)
/** Loads of partial results that each thread of a workgroup of columns waits for at most. */
const MOST_AWAITED = 64
/** Shortest piece worth a workgroup of its own, in vectors of a row, and in rows of the columns of each thread. */
export const SHORTEST_RUN = 1024
const SHORTEST_COLUMN = 4
/** The same where a workgroup has few columns: their loads are few lines of memory, and a second step costs as much as many of them. */
const SHORTEST_NARROW = 8
/** Rows of a thread up to which a second step costs more than it saves. */
const ROWS_ALONE = 16

/** Pieces that a length is cut into, for `others` results beside each other. */
export const pieces = (length: number, shortest: number, others: number, enough = ENOUGH_GROUPS) => Math.max(1, Math.min(Math.floor(length / shortest), Math.floor(enough / others)))

/** Vectors of a run for each thread of the largest workgroup up to which a second step costs more than it saves. */
const LONGEST_ALONE = 8

/** Pieces of each of `rows` runs of neighbouring vectors. */
export const runParts = (vectors: number, rows: number, threads = THREADS): number =>
  vectors <= LONGEST_ALONE * threads && threads > THREADS ? 1 : pieces(vectors, SHORTEST_RUN, rows)

/** Pieces of the rows of a fold over the middle axis of [outer, reduce, vectors]. */
export function columnParts(outer: number, reduce: number, vectors: number, threads = THREADS, enough = ENOUGH_GROUPS): number {
  const wide = columnsOf(reduce, vectors)
  // Few rows of many columns: a thread takes all rows.
  if (wide === THREADS || reduce <= (ROWS_ALONE * threadsAcross(wide, reduce, outer * Math.ceil(vectors / wide), threads)) / wide) return 1
  return pieces(reduce, (THREADS / wide) * (wide < 32 ? SHORTEST_NARROW : SHORTEST_COLUMN), outer * Math.ceil(vectors / wide), enough)
}

/** Workgroups that still fill a device where pieces are fewer, so that their last workgroup can join them. */
const FILLED = 512

/** How the rows of [outer, reduce, vectors] of `width` elements are cut, and whether the last workgroup of some columns joins their pieces. */
export function columnPlan(outer: number, reduce: number, vectors: number, width: Width, threads = THREADS): { parts: number; joined: boolean } {
  const parts = columnParts(outer, reduce, vectors, threads, ENOUGH_OF_COLUMNS[width])
  if (parts === 1) return { parts, joined: false }
  const beside = Math.ceil(vectors / columnsOf(reduce, vectors)) * outer
  const most = Math.floor((MOST_AWAITED * THREADS) / columnsOf(reduce, vectors) / width)
  return parts <= most || beside * most >= FILLED ? { parts: Math.min(parts, most), joined: true } : { parts, joined: false }
}

/** A tensor on the way through the steps: what it holds and how. */
export interface Held {
  from: BufferName
  type: Float
}

/** Builds the steps of one fold into `target`, each with scratch space of its own, numbered from `scratchFrom`. */
export class FoldSteps {
  readonly scratchBytes: number[] = []
  readonly steps: Step[] = []

  constructor(
    private readonly device: DeviceLimits,
    private readonly fold: Fold,
    private readonly to: Float,
    private readonly count: number,
    private readonly target: BufferName = 'output',
    private readonly scratchFrom = 0,
  ) {}

  /** Rows of neighbouring elements, into a number each: by one workgroup or more, the last of which joins their pieces. */
  rows(x: Held, rows: number, length: number, last: boolean, pair?: Pair): Held {
    const runs = this.#runs(rows, length, pair !== undefined)
    return runs.parts === 1 ? this.#along(x, runs, last, rows, pair) : this.#joined(x, runs, last, 1, pair)
  }

  /** Rows of [groups, outer], those of all groups into one number for each of the outer axis, in one step; undefined where that is too much to join. */
  rowsOfGroups(x: Held, groups: number, outer: number, length: number): Held | undefined {
    const runs = this.#runs(groups * outer, length)
    return groups * runs.parts > MOST_JOINED || runs.rows * runs.parts > ENOUGH_GROUPS ? undefined : this.#joined(x, runs, true, groups)
  }

  #runs(rows: number, length: number, paired = false): Runs {
    // A single row may end in the padding of its tensor, which is zero (tensors.ts): only where zero changes nothing.
    const padded = rows === 1 && this.fold.start === '0.0' && this.steps.length === 0
    const width: Width = padded ? 4 : widthFor(length)
    const vectors = Math.ceil(length / width)
    return { rows, vectors, width, parts: Math.min(paired ? MOST_JOINED : mostPieces(rows, length), runParts(vectors, rows, this.device.threads)), count: this.count }
  }

  #joined(x: Held, runs: Runs, last: boolean, groups: number, pair?: Pair): Held {
    const results = runs.rows / groups
    return this.#along(x, { ...runs, joined: { arrivals: this.#arrivals(runs.rows * runs.parts, results), groups } }, last, results, pair)
  }

  /** Folds over the first and the last axis of [groups, outer, reduce] at once. */
  grouped(x: Held, groups: number, outer: number, reduce: number): Held {
    const width = widthFor(reduce)
    const run = reduce / width
    return this.#along(x, { rows: outer, vectors: groups * run, width, parts: 1, count: this.count, run }, true, outer)
  }

  /** Folds over the middle axis; with `times`, of products, for an `outer` of 1. */
  columns(x: Held, outer: number, reduce: number, inner: number, last: boolean, times?: Times): Held {
    const width = widthFor(inner)
    const vectors = inner / width
    const { parts, joined } = columnPlan(outer, reduce, vectors, width, this.device.threads)
    const columns = { outer, reduce, vectors, width, parts, count: this.count }
    if (parts === 1) return this.#across(x, columns, last, outer * inner, times)
    if (joined) {
      const kinds = outer + (times?.plain ? 1 : 0)
      return this.#across(x, { ...columns, arrivals: this.#arrivals(kinds * parts * inner, kinds * Math.ceil(vectors / columnsOf(reduce, vectors))) }, last, outer * inner, times)
    }
    const partial = this.#across(x, columns, false, outer * parts * inner, times)
    return this.#across(partial, { ...columns, reduce: parts, parts: 1 }, last, outer * inner)
  }

  #arrivals(results: number, counters: number): BufferName {
    this.scratchBytes.push(arrivalBytes(results, counters))
    return { scratch: this.scratchFrom + this.scratchBytes.length - 1 }
  }

  #target(last: boolean, elements: number): Held {
    if (last) return { from: this.target, type: this.to }
    this.scratchBytes.push(elements * 4)
    return { from: { scratch: this.scratchFrom + this.scratchBytes.length - 1 }, type: 'f32' }
  }

  #along(x: Held, runs: Parameters<typeof foldAlong>[1], last: boolean, elements: number, pair?: Pair): Held {
    const to = this.#target(last, elements)
    this.steps.push(foldAlong(foldAt(this.fold, { first: this.steps.length === 0, last }), runs, { from: x.type, to: to.type, ...this.device }, x.from, to.from, pair))
    return to
  }

  #across(x: Held, columns: Parameters<typeof foldAcross>[1], last: boolean, elements: number, times?: Times): Held {
    const to = this.#target(last, elements)
    this.steps.push(foldAcross(foldAt(this.fold, { first: this.steps.length === 0, last }), columns, { from: x.type, to: to.type, ...this.device }, x.from, to.from, times))
    return to
  }
}
