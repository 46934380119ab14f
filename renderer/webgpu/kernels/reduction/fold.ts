import { entry, header, step, storage, THREADS, working, type Width } from '../../wgsl/header'
import { ARRIVAL_FUNCTIONS, ARRIVALS, eachArrival } from '../../wgsl/arrivals'
import { maxOf, sumOf, exchange, powerOfTwoFrom, reduction } from '../../wgsl/rows'
import type { BufferName, DeviceLimits, Step } from '../types'

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

/** Element types of one step, whose partial results are f32, and what the device allows. */
interface Types extends DeviceLimits {
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
  /** Vectors that a row has side by side, where its others follow `rows` times as far on. Only with one piece a row. */
  run?: number
  /** Where pieces wait for the last workgroup of their result, which joins those of all `groups` rows: rows are [groups, results]. */
  joined?: { arrivals: BufferName; groups: number }
}

/** A second tensor whose elements join those of the first before they are folded. */
export interface Pair {
  from: BufferName
  /** WGSL of two f32 or vectors of them. */
  of: (a: string, b: string) => string
}

/** Vectors a thread folds before threads are combined, where the results fill the device; and those of shorter and of very short runs, where so many threads are left. */
const WANTED_PER_LANE = 4
const MOST_PER_LANE = { short: 8, shortest: 16 }
const SHORT_RUN = 1024
const SHORTEST_RUN = 192
const MANY_THREADS = 2 ** 19
/** Threads up to which each takes one vector: they leave the device idle anyway, and loads wait for memory once instead of four times. */
const FEW_THREADS = 2 ** 16

/** Threads that share a run of `length` loads, of which there are `runs`: at most `most`. */
export function lanesFor(length: number, runs: number, threads = THREADS): number {
  const one = Math.min(threads, powerOfTwoFrom(length))
  if (one * runs <= FEW_THREADS) return one
  let lanes = Math.min(THREADS, powerOfTwoFrom(Math.ceil(length / WANTED_PER_LANE)))
  // Combining threads of short runs takes as long as reading them: fewer of them read more.
  const most = length < SHORTEST_RUN ? MOST_PER_LANE.shortest : MOST_PER_LANE.short
  while (lanes > 1 && length <= SHORT_RUN && lanes * most >= 2 * length && (lanes / 2) * runs >= MANY_THREADS) lanes /= 2
  return lanes
}

/** Fours of loads of a thread from which on workgroups take turns. */
const MANY_FOURS = 2
/** Loads that a loop by fours leaves. */
const MOST_LEFT = 3

/**
 * WGSL that folds every element from `at` to before `end`, `stride` apart, into s0 to s3. Four reads are in flight at a time, and so are
 * the ones left over: past the end they read the last element again, and drop it. `longest` is the most elements of a thread, `turn`
 * the way from one four to the next.
 */
function folded(fold: Fold, at: string, stride: number, longest: number, value: (at: string) => string, turn = `${4 * stride}u`): string {
  const place = (k: number) => (k === 0 ? at : `${at} + ${k * stride}u`)
  const join = (k: number) => `s${k} = ${fold.join(`s${k}`, fold.take(`v${k}`))};`
  const four = [0, 1, 2, 3].map((k) => `let v${k} = ${value(place(k))};`).join(' ')
  const left = Array.from({ length: Math.min(MOST_LEFT, longest) }, (_, k) => k)
  const loads = left.map((k) => `let v${k} = ${value(k === 0 ? at : `min(${place(k)}, end - 1u)`)};`).join(' ')
  const loop = longest > MOST_LEFT ? `    for (; ${place(3)} < end; ${at} += ${turn}) { ${four} ${[0, 1, 2, 3].map(join).join(' ')} }\n` : ''
  return `${loop}    if (${at} < end) { ${loads} ${left.map((k) => (k === 0 ? join(k) : `if (${place(k)} < end) { ${join(k)} }`)).join(' ')} }`
}

/** Elements of a thread that are on their way together, where every thread has so many or one less. */
const FEWEST_TOGETHER = 4
const MOST_TOGETHER = 16

/** The same for `length` elements of `lanes` threads from `i` on, without a loop. */
function foldedTogether(fold: Fold, lanes: number, length: number, value: (at: string) => string): string {
  const full = Math.floor(length / lanes)
  const all = Array.from({ length: full }, (_, k) => k)
  const place = (k: number) => (k === 0 ? 'i' : `i + ${k * lanes}u`)
  const join = (k: number) => `s${k % 4} = ${fold.join(`s${k % 4}`, fold.take(`v${k}`))};`
  const isWhole = length % lanes === 0
  return `    ${all.map((k) => `let v${k} = ${value(place(k))};`).join(' ')}${isWhole ? '' : ` let v${full} = ${value(`min(${place(full)}, end - 1u)`)};`}
    ${all.map(join).join(' ')}${isWhole ? '' : ` if (${place(full)} < end) { ${join(full)} }`}`
}

/** Writes rows * parts results, the parts of a row side by side, or where they are joined one for each row. With `pair`, elements are made of two tensors. */
export function foldAlong(fold: Fold, runs: Runs, types: Types, from: BufferName, to: BufferName, pair?: Pair): Step {
  const perPart = Math.ceil(runs.vectors / runs.parts)
  const results = runs.rows * runs.parts
  const { run, joined } = runs
  const lanes = joined ? Math.max(THREADS, lanesFor(perPart, results, types.threads)) : lanesFor(perPart, results, types.threads)
  const threads = Math.max(THREADS, lanes)
  // Workgroups that run beside each other read beside each other: all of them together read memory in order.
  const together = runs.parts === 1 && perPart >= FEWEST_TOGETHER * lanes && perPart <= MOST_TOGETHER * lanes
  const inTurn = joined !== undefined && runs.parts > 1 && perPart >= MANY_FOURS * 4 * lanes
  const type = storage(types.from, runs.width)
  const vector = working(runs.width)
  const bindings = [{ name: 'x', type }, ...(pair ? [{ name: 'y', type }] : []), { name: 'out', type: storage(types.to, 1), write: true }, ...(joined ? [ARRIVALS] : [])]
  const read = (name: string, at: string) => `${vector}(${name}[base + ${run === undefined ? at : `(${at}) / dim(4u) * dim(5u) + (${at}) % dim(4u)`}])`
  const value = (at: string) => (pair ? pair.of(read('x', at), read('y', at)) : read('x', at))
  const target = storage(types.to, 1)
  const written = joined
    ? `  // Rows of a result lie dim(4) apart; its pieces side by side.
  let row = index / parts % dim(4u);
  let count = dim(0u) / dim(4u);
  let places = row * count;
  if (lane == 0u) { leave(places + index / parts / dim(4u) * parts + index % parts, total); }
  if (is_last(dim(0u) + row, count, lane)) {
    var rest = ${fold.start};
${eachArrival('lane', 'count', `${threads}u`, (i) => `places + ${i}`, (value) => `rest = ${fold.join('rest', value)};`)}
    let whole = reduce_all(rest, lane);
    if (lane == 0u) { out[row] = ${target}(${fold.finish('whole', 'scalar(0u)')}); }
  }`
    : `  if (live && lane % ${lanes}u == 0u) { out[index] = ${target}(${fold.finish('total', 'scalar(0u)')}); }`
  const wgsl = `${header(bindings, types.from === 'f16' || types.to === 'f16', types.subgroups !== undefined)}${exchange(threads)}
${reduction('all', lanes, fold.join, types.subgroups)}${joined ? ARRIVAL_FUNCTIONS : ''}
${entry(`  let index = ${joined ? 'group' : `group * ${threads / lanes}u + lane / ${lanes}u`};${joined ? '\n  if (index >= dim(0u)) { return; }' : ''}
  let parts = dim(2u);
  let base = index / parts * dim(${run === undefined ? 1 : 4}u);
  let end = ${inTurn ? 'dim(1u)' : 'min((index % parts + 1u) * dim(3u), dim(1u))'};
  var i = index % parts * ${inTurn ? `${4 * lanes}u` : 'dim(3u)'} + lane % ${lanes}u;
  var s0 = ${vector}(${fold.start});
  var s1 = s0;
  var s2 = s0;
  var s3 = s0;
  let live = index < dim(0u);
  if (live) {
${together ? foldedTogether(fold, lanes, perPart, value) : folded(fold, 'i', lanes, Math.ceil(perPart / lanes), value, inTurn ? `parts * ${4 * lanes}u` : undefined)}
  }
  let left = ${fold.join('s0', 's1')};
  let right = ${fold.join('s2', 's3')};
  let joined = ${fold.join('left', 'right')};
  let total = reduce_all(${fold.within('joined', runs.width)}, lane);
${written}`, threads)}`
  return step(wgsl, [from, ...(pair ? [pair.from] : []), to, ...(joined ? [joined.arrivals] : [])], [results, runs.vectors, runs.parts, perPart, ...(run === undefined ? [] : [run, runs.rows * run]), ...(joined ? [runs.rows / joined.groups] : [])], Math.ceil(results / (threads / lanes)), [runs.count])
}

/** Folds over the middle axis of [outer, reduce, inner], which is cut into `parts` pieces. */
export interface Columns {
  outer: number
  reduce: number
  /** Vectors of `width` elements in the inner axis. */
  vectors: number
  width: Width
  parts: number
  /** Elements that each result stands for, for means. */
  count: number
  /** Where pieces wait for the last workgroup of their columns, which joins them: [outer, inner] results. */
  arrivals?: BufferName
}

/** What each element is multiplied with: the element of `x` less its row's mean, times its row's rstd. */
export interface Times {
  x: BufferName
  rstd: BufferName
  mean?: BufferName
  /** Where the sums of the elements themselves go, by as many workgroups more. Only where pieces are joined, or with one. */
  plain?: BufferName
}

/** Vectors beside each other in a workgroup, where there are as many; its other threads take rows below. */
const COLUMNS_PER_GROUP = 32
/** Rows up to which a thread takes all rows of its columns, and columns from which on that fills the device. */
const FEW_ROWS = 16
const MANY_COLUMNS = 2 ** 15
/** The same of some more rows: so many threads are worth what each waits for longer. */
const SOME_ROWS = 32
const VERY_MANY_COLUMNS = 2 ** 18

/** Vectors beside each other in a workgroup for a fold of `reduce` rows of `vectors`: a power of two. Threads of few columns take more rows at a time. */
export const columnsOf = (reduce: number, vectors: number): number =>
  (reduce <= FEW_ROWS && vectors >= MANY_COLUMNS) || (reduce <= SOME_ROWS && vectors >= VERY_MANY_COLUMNS) ? THREADS : Math.min(COLUMNS_PER_GROUP, powerOfTwoFrom(vectors))

/** Workgroups up to which larger ones leave no more of a device idle. */
const FEW_GROUPS = 132
/** Rows that a thread takes at least where workgroups are larger. */
const LEAST_ROWS = 4

/** Threads of a workgroup of `wide` columns, of which there are `groups` with `reduce` rows each. */
export function threadsAcross(wide: number, reduce: number, groups: number, most = THREADS): number {
  return groups > FEW_GROUPS ? THREADS : Math.max(THREADS, Math.min(most, powerOfTwoFrom(Math.ceil((reduce * wide) / LEAST_ROWS))))
}

/** Rows of partial results that one thread for each column joins by itself. */
const FEW_TO_JOIN = 8

/** WGSL that joins the partial results of `high` rows of threads, `wide` threads each, in `rows`: the first FEW_TO_JOIN rows hold them after it. */
function joinedRows(fold: Fold, wide: number, high: number): string {
  const steps: string[] = []
  for (let rows = high / 2; rows >= FEW_TO_JOIN; rows /= 2)
    steps.push(`  if (lane < ${rows * wide}u) { rows[lane] = ${fold.join('rows[lane]', `rows[lane + ${rows * wide}u]`)}; }\n  workgroupBarrier();\n`)
  return steps.join('')
}

/** Writes [outer, parts, inner] results, or [outer, inner] where pieces are joined. */
export function foldAcross(fold: Fold, columns: Columns, types: Types, from: BufferName, to: BufferName, times?: Times): Step {
  const { arrivals, parts } = columns
  const perPart = Math.ceil(columns.reduce / parts)
  const wide = columnsOf(columns.reduce, columns.vectors)
  const beside = Math.ceil(columns.vectors / wide)
  const threads = threadsAcross(wide, perPart, beside * columns.outer * parts, types.threads)
  const high = threads / wide
  const vector = working(columns.width)
  const factors = times ? [{ name: 'y', type: storage(types.from, columns.width) }, { name: 'rstd', type: 'f32' }, ...(times.mean ? [{ name: 'mean', type: 'f32' }] : [])] : []
  const target = { type: storage(types.to, columns.width), write: true }
  const bindings = [{ name: 'x', type: storage(types.from, columns.width) }, ...factors, { name: 'out', ...target }, ...(times?.plain ? [{ name: 'plain', ...target }] : []), ...(arrivals ? [ARRIVALS] : [])]
  const factor = (row: string) => (times ? ` * (${vector}(y[base + (${row}) * vectors])${times.mean ? ` - mean[${row}]` : ''}) * rstd[${row}]` : '')
  const own = (row: string) => `${vector}(x[base + (${row}) * vectors])`
  const fold4 = (value: (row: string) => string) => folded(fold, 'r', high, Math.ceil(perPart / high), value)
  const weighted = fold4((row) => `${own(row)}${factor(row)}`)
  const written = (name: string, at: string) => `${name}[${at}] = ${target.type}(${fold.finish('total', 'scalar(0u)')});`
  const result = (at: string) => (times?.plain ? `if (kind == 0u) { ${written('out', 'column')} } else { ${written('plain', 'column')} }` : written('out', at))
  const sides = columns.width === 4 ? ['.x', '.y', '.z', '.w'] : ['']
  const total = `    var total = rows[lane];
    for (var other = 1u; other < ${Math.min(high, FEW_TO_JOIN)}u; other++) { total = ${fold.join('total', `rows[lane + other * ${wide}u]`)}; }`
  const joined = `  let places = (piece / parts * parts * vectors + column) * ${columns.width}u;
  if (live && lane < ${wide}u) {
${total}
${sides.map((side, j) => `    leave(places + piece % parts * vectors * ${columns.width}u + ${j}u, total${side});`).join('\n')}
  }
  if (is_last(dim(5u) * vectors * ${columns.width}u + piece / parts * dim(4u) + group % dim(4u), parts, lane)) {
    var rest = ${vector}(${fold.start});
    if (live) {
${eachArrival(`lane / ${wide}u`, 'parts', `${high}u`, (i, j) => `places + (${i}) * vectors * ${columns.width}u + ${j}u`, (value, j) => `rest${sides[j]} = ${fold.join(`rest${sides[j]}`, value)};`, { words: sides.length })}
    }
    rows[lane] = rest;
    workgroupBarrier();
  ${joinedRows(fold, wide, high)}
    if (live && lane < ${wide}u) {
  ${total}
      ${result('piece / parts * vectors + column')}
    }
  }`
  const wgsl = `${header(bindings, types.from === 'f16' || types.to === 'f16')}
var<workgroup> rows: array<${vector}, ${threads}>;
${arrivals ? ARRIVAL_FUNCTIONS : ''}${entry(`  let vectors = dim(0u);
  let reduce = dim(1u);
  let parts = dim(2u);
  let column = group % dim(4u) * ${wide}u + lane % ${wide}u;
  let piece = group / dim(4u);
${arrivals ? '  if (piece >= dim(5u)) { return; }\n' : ''}  let live = column < vectors && piece < dim(5u);
${times?.plain ? '  let kind = piece / parts;\n' : ''}  let base = ${times?.plain ? 'column' : 'piece / parts * reduce * vectors + column'};
  let end = min((piece % parts + 1u) * dim(3u), reduce);
  var r = piece % parts * dim(3u) + lane / ${wide}u;
  var s0 = ${vector}(${fold.start});
  var s1 = s0;
  var s2 = s0;
  var s3 = s0;
  if (live) {
${times?.plain ? `    if (kind == 0u) {\n${weighted}\n    } else {\n${fold4(own)}\n    }` : weighted}
  }
  let left = ${fold.join('s0', 's1')};
  let right = ${fold.join('s2', 's3')};
  rows[lane] = ${fold.join('left', 'right')};
  workgroupBarrier();
${joinedRows(fold, wide, high)}${arrivals ? joined : `  if (live && lane < ${wide}u) {
${total}
    ${result('piece * vectors + column')}
  }`}`, threads)}`
  const pieces = (columns.outer + (times?.plain ? 1 : 0)) * parts
  const buffers = [from, ...(times ? [times.x, times.rstd, ...(times.mean ? [times.mean] : [])] : []), to, ...(times?.plain ? [times.plain] : []), ...(arrivals ? [arrivals] : [])]
  return step(wgsl, buffers, [columns.vectors, columns.reduce, parts, perPart, beside, pieces], beside * pieces, [columns.count])
}
