import { entry, header, step, storage, THREADS, working, type Width } from '../../wgsl/header'
import { EXCHANGE, powerOfTwoFrom, reduction, sumOf } from '../../wgsl/rows'
import type { BufferName, Step } from '../types'

/** Element types of one summing step; partial sums are f32. */
export interface Types {
  from: 'f32' | 'f16'
  to: 'f32' | 'f16'
}

/** Sums of runs of neighbouring elements: `rows` rows of `vectors` vectors, each row cut into `parts` pieces. */
export interface Runs {
  rows: number
  vectors: number
  width: Width
  parts: number
}

/** Vectors a thread adds up before threads are combined. */
const WANTED_PER_LANE = 4

/** Writes rows * parts sums, the parts of a row side by side. */
export function sumAlong(runs: Runs, types: Types, from: BufferName, to: BufferName): Step {
  const perPart = Math.ceil(runs.vectors / runs.parts)
  const lanes = Math.min(THREADS, powerOfTwoFrom(Math.ceil(perPart / WANTED_PER_LANE)))
  const sums = runs.rows * runs.parts
  const load = (at: string) => `${working(runs.width)}(x[base + ${at}])`
  const bindings = [{ name: 'x', type: storage(types.from, runs.width) }, { name: 'out', type: storage(types.to, 1), write: true }]
  // Four sums at a time keep four reads in flight.
  const wgsl = `${header(bindings, types.from === 'f16' || types.to === 'f16')}${EXCHANGE}
${reduction('sum', lanes, (a, b) => `${a} + ${b}`)}
${entry(`  let index = group * ${THREADS / lanes}u + lane / ${lanes}u;
  let parts = dim(2u);
  let base = index / parts * dim(1u);
  let end = min((index % parts + 1u) * dim(3u), dim(1u));
  var i = index % parts * dim(3u) + lane % ${lanes}u;
  var s0 = ${working(runs.width)}(0.0);
  var s1 = s0;
  var s2 = s0;
  var s3 = s0;
  let live = index < dim(0u);
  if (live) {
    for (; i + ${3 * lanes}u < end; i += ${4 * lanes}u) { s0 += ${load('i')}; s1 += ${load(`i + ${lanes}u`)}; s2 += ${load(`i + ${2 * lanes}u`)}; s3 += ${load(`i + ${3 * lanes}u`)}; }
    for (; i < end; i += ${lanes}u) { s0 += ${load('i')}; }
  }
  let all = (s0 + s1) + (s2 + s3);
  let total = reduce_sum(${sumOf('all', runs.width)}, lane);
  if (live && lane % ${lanes}u == 0u) { out[index] = ${storage(types.to, 1)}(total); }`)}`
  return step(wgsl, [from, to], [sums, runs.vectors, runs.parts, perPart], Math.ceil(sums / (THREADS / lanes)))
}
