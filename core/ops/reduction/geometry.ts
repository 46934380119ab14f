import { divisorUpTo } from '../define'
import type { InputValues, ReadInput } from '../types'

/**
 * A reduction of x by its dims: out[o * inner + i] is made from x[((g * outer + o) * reduce + r) * inner + i] over all
 * g < groups and r < reduce. The reduced elements are counted row by row: number g * reduce + r.
 */
export interface Reduction {
  outer: number
  reduce: number
  inner: number
  groups: number
}

/** Elements that one output is made from. */
export const lengthOf = ({ reduce, groups }: Reduction): number => reduce * groups

/** Neighbouring columns share their reads; 64 of them keep a sampled check cheap. */
export const granuleOf = ({ inner }: Reduction): number => divisorUpTo(inner, 64)

/** Elements taken from an input at a time, so that a long reduction stays in the processor's cache. */
const CHUNK = 16384

/** What takes the elements of a reduction in order. `index` is the number of the first of them among those reduced. */
interface Visitor {
  /** `part` all belongs to output `at`. */
  along(at: number, part: InputValues, index: number): void
  /** Element i of `part` belongs to output `at + i`. */
  across(at: number, part: InputValues, index: number): void
}

/** Hands every element that outputs `start .. start + count` are made from to the visitor; outputs are counted from `start`. */
export function visitReduced({ outer, reduce, inner, groups }: Reduction, read: ReadInput, input: number, start: number, count: number, visitor: Visitor): void {
  // Short rows are read many at a time: a read costs more than its elements.
  const rowsAtOnce = Math.max(1, Math.floor(CHUNK / inner))
  const rows = (at: number, part: InputValues, index: number, from = 0, to = from + part.length / inner) => {
    if (inner === 1) visitor.along(at, from === 0 && to === part.length ? part : part.subarray(from, to), index)
    else for (let r = from; r < to; r++) visitor.across(at, part.subarray(r * inner, (r + 1) * inner), index + r - from)
  }
  for (let done = 0; done < count; ) {
    const o = Math.floor((start + done) / inner)
    const column = (start + done) % inner
    const width = Math.min(count - done, inner - column)
    const outers = groups === 1 && width === inner ? Math.min(Math.floor((count - done) / inner), Math.floor(rowsAtOnce / reduce)) : 0
    if (outers > 1) {
      const part = read(input, o * reduce * inner, outers * reduce * inner)
      for (let k = 0; k < outers; k++) rows(done + k * inner, part, 0, k * reduce, (k + 1) * reduce)
      done += outers * inner
      continue
    }
    for (let g = 0; g < groups; g++) {
      const row = (g * outer + o) * reduce
      if (width === inner) for (let r = 0; r < reduce; r += rowsAtOnce) rows(done, read(input, (row + r) * inner, Math.min(rowsAtOnce, reduce - r) * inner), g * reduce + r)
      else for (let r = 0; r < reduce; r++) visitor.across(done, read(input, (row + r) * inner + column, width), g * reduce + r)
    }
    done += width
  }
}

/** Each output folded from `first` with `step`, in float64. */
export function folded(reduction: Reduction, read: ReadInput, input: number, start: number, count: number, first: number, step: (total: number, x: number) => number): Float64Array {
  const out = new Float64Array(count).fill(first)
  visitReduced(reduction, read, input, start, count, {
    along: (at, part) => {
      let total = out[at]!
      for (let i = 0; i < part.length; i++) total = step(total, part[i]!)
      out[at] = total
    },
    across: (at, part) => {
      for (let i = 0; i < part.length; i++) out[at + i] = step(out[at + i]!, part[i]!)
    },
  })
  return out
}

/** Number of the first element that no other of its output is better than. */
export function firstBest(reduction: Reduction, read: ReadInput, input: number, start: number, count: number, better: (x: number, best: number) => boolean): Float64Array {
  const best = new Float64Array(count)
  const where = new Float64Array(count).fill(-1)
  const take = (at: number, x: number, index: number) => {
    if (where[at]! >= 0 && !better(x, best[at]!)) return
    best[at] = x
    where[at] = index
  }
  visitReduced(reduction, read, input, start, count, {
    along: (at, part, index) => part.forEach((x, i) => take(at, x, index + i)),
    across: (at, part, index) => part.forEach((x, i) => take(at + i, x, index)),
  })
  return where
}

/** The sum of each output's elements. */
export const sums = (reduction: Reduction, read: ReadInput, start: number, count: number): Float64Array => folded(reduction, read, 0, start, count, 0, (total, x) => total + x)
