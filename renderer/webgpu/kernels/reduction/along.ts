import { entry, header, step, storage, THREADS, working, type Width } from '../../wgsl/header'
import { EXCHANGE, powerOfTwoFrom, reduction } from '../../wgsl/rows'
import type { BufferName, Step } from '../types'
import type { Fold } from './fold'

/** Element types of one step; partial results are f32. */
export interface Types {
  from: 'f32' | 'f16'
  to: 'f32' | 'f16'
}

/** Folds of runs of neighbouring elements: `rows` rows of `vectors` vectors, each row cut into `parts` pieces. */
export interface Runs {
  rows: number
  vectors: number
  width: Width
  parts: number
  /** Elements that each result stands for, for means. */
  count: number
}

/** A second tensor whose elements join those of the first before they are folded. */
export interface Pair {
  from: BufferName
  /** WGSL of two f32 or vectors of them. */
  of: (a: string, b: string) => string
}

/** Vectors a thread folds before threads are combined. */
const WANTED_PER_LANE = 4

/** Writes rows * parts results, the parts of a row side by side. With `pair`, elements are made of two tensors. */
export function foldAlong(fold: Fold, runs: Runs, types: Types, from: BufferName, to: BufferName, pair?: Pair): Step {
  const perPart = Math.ceil(runs.vectors / runs.parts)
  const lanes = Math.min(THREADS, powerOfTwoFrom(Math.ceil(perPart / WANTED_PER_LANE)))
  const results = runs.rows * runs.parts
  const type = storage(types.from, runs.width)
  const vector = working(runs.width)
  const bindings = [{ name: 'x', type }, ...(pair ? [{ name: 'y', type }] : []), { name: 'out', type: storage(types.to, 1), write: true }]
  const take = (into: string, at: string) => `let v${into} = ${pair ? pair.of(`${vector}(x[base + ${at}])`, `${vector}(y[base + ${at}])`) : `${vector}(x[base + ${at}])`}; s${into} = ${fold.join(`s${into}`, fold.take(`v${into}`))};`
  // Four folds at a time keep four reads in flight.
  const wgsl = `${header(bindings, types.from === 'f16' || types.to === 'f16')}${EXCHANGE}
${reduction('all', lanes, fold.join)}
${entry(`  let index = group * ${THREADS / lanes}u + lane / ${lanes}u;
  let parts = dim(2u);
  let base = index / parts * dim(1u);
  let end = min((index % parts + 1u) * dim(3u), dim(1u));
  var i = index % parts * dim(3u) + lane % ${lanes}u;
  var s0 = ${vector}(${fold.start});
  var s1 = s0;
  var s2 = s0;
  var s3 = s0;
  let live = index < dim(0u);
  if (live) {
    for (; i + ${3 * lanes}u < end; i += ${4 * lanes}u) { ${take('0', 'i')} ${take('1', `i + ${lanes}u`)} ${take('2', `i + ${2 * lanes}u`)} ${take('3', `i + ${3 * lanes}u`)} }
    for (; i < end; i += ${lanes}u) { ${take('0', 'i')} }
  }
  let left = ${fold.join('s0', 's1')};
  let right = ${fold.join('s2', 's3')};
  let joined = ${fold.join('left', 'right')};
  let total = reduce_all(${fold.within('joined', runs.width)}, lane);
  if (live && lane % ${lanes}u == 0u) { out[index] = ${storage(types.to, 1)}(${fold.finish('total', 'scalar(0u)')}); }`)}`
  return step(wgsl, pair ? [from, pair.from, to] : [from, to], [results, runs.vectors, runs.parts, perPart], Math.ceil(results / (THREADS / lanes)), [runs.count])
}
