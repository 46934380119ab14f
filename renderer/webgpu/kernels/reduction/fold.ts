import type { Width } from '../../wgsl/header'
import { maxOf, sumOf } from '../../wgsl/rows'

/** What a reduction does with its elements; WGSL on f32 or vec4<f32>, whichever the kernel works in. */
export interface Fold {
  /** Neutral element. */
  start: string
  /** What an element contributes; partial results of an earlier step contribute as they are. */
  take: (x: string) => string
  join: (a: string, b: string) => string
  /** The elements of one vector joined. */
  within: (vector: string, width: Width) => string
  /** The result from everything joined; `count` is the number of elements as an f32. */
  finish: (all: string, count: string) => string
}

const same = (x: string) => x
const added = { start: '0.0', take: same, join: (a: string, b: string) => `${a} + ${b}`, within: sumOf, finish: same }
/** The limits of f32: below and above every finite element. */
const highest = { start: '-3.4028234663852886e38', take: same, join: (a: string, b: string) => `max(${a}, ${b})`, within: maxOf, finish: same }
const lowest = {
  start: '3.4028234663852886e38', take: same, join: (a: string, b: string) => `min(${a}, ${b})`, finish: same,
  within: (v: string, width: Width) => (width === 4 ? `min(min(${v}.x, ${v}.y), min(${v}.z, ${v}.w))` : v),
}

/** Reductions to one number, by op id. */
export const FOLDS: Readonly<Record<string, Fold>> = {
  sum: added,
  mean: { ...added, finish: (all, count) => `${all} / ${count}` },
  max: highest,
  min: lowest,
  norm_l1: { ...added, take: (x) => `abs(${x})` },
  norm_l2: { ...added, take: (x) => `${x} * ${x}`, finish: (all) => `sqrt(${all})` },
  norm_linf: { ...highest, start: '0.0', take: (x) => `abs(${x})` },
}

/** Where a step stands among those of a call: only the first takes elements, only the last finishes. */
export interface Stage {
  first: boolean
  last: boolean
}

/** The fold as one step of several applies it. */
export const foldAt = (fold: Fold, { first, last }: Stage): Fold => ({ ...fold, take: first ? fold.take : same, finish: last ? fold.finish : same })
