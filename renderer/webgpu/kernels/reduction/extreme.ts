import { ARRIVAL_FUNCTIONS, arrivalBytes, ARRIVALS, eachArrival } from '../../wgsl/arrivals'
import { entry, header, numbers, step, storage, THREADS, widthFor, type Width } from '../../wgsl/header'
import { powerOfTwoFrom, shuffled } from '../../wgsl/rows'
import type { BufferName, Program, Step } from '../types'
import { columnsOf, lanesFor } from './fold'
import { columnParts, type Float, type Geometry, GROUPED_ELEMENTS, GROUPED_RESULT, LONG_RUN, mostPieces, pieces, SHORTEST_RUN } from './steps'

/** Where the extreme element of each output is looked for: x [outer, reduce, inner], the middle axis cut into `parts` pieces. */
interface Search {
  outer: number
  reduce: number
  inner: number
  parts: number
  /** What the index of a pair grows by with its place along the middle axis: the elements that each pair was found among. 0 where absent. */
  span?: number
  /** Elements that an output has side by side, where its others follow `outer` times as far on. Only with one part and no inner axis. */
  run?: number
  /** Where pairs wait for the last workgroup of their output, which searches those of all `groups`: outer is [groups, outputs]. */
  joined?: { arrivals: BufferName; groups: number }
}

/** Where values and their indices come from: elements of x, or the pairs that an earlier step left. */
type Source = { x: BufferName; type: 'f32' | 'f16' } | { values: BufferName; indices: BufferName }
/** Where they go: the indices alone, or pairs for the next step. */
type Target = { indices: BufferName } | { values: BufferName; indices: BufferName }

/** Elements of a part: whole vectors of `width`. */
const partLength = (reduce: number, parts: number, width: Width) => Math.ceil(reduce / parts / width) * width

/** A thread's search of its vectors, two on their way at once. Its elements come in order, so the first of equals is kept without comparing indices. */
const vectors = (better: '>' | '<', lanes: number, behind: number) => {
  const search = (v: string, at: string) => ['x', 'y', 'z', 'w'].map((side, j) => `if (${v}.${side} ${better} value) { value = ${v}.${side}; index = i32(4u * (${at}) + ${j}u); }`).join(' ')
  const vector = (at: string) => `vec4<f32>(x[base / 4u + ${at}])`
  return `    var i = piece % parts * dim(3u) / 4u + l;
    let last = end / 4u;
    if (i < last) { value = ${vector('i')}.x; index = i32(4u * i); }
    for (; i + ${3 * lanes}u < last; i += ${4 * lanes}u) {
      ${[0, 1, 2, 3].map((q) => `let v${q} = ${vector(`i + ${q * lanes}u`)};`).join(' ')}
      ${[0, 1, 2, 3].map((q) => search(`v${q}`, `i + ${q * lanes}u`)).join('\n      ')}
    }
    for (; i < last; i += ${lanes}u) { let v = ${vector('i')}; ${search('v', 'i')} }${behind === 0 ? '' : `
    // The last vector of the row is not whole.
    if (l == 0u && end == reduce) {
      let v = ${vector('last')};
      ${['x', 'y', 'z'].slice(0, behind).map((side, j) => `if (index < 0 || v.${side} ${better} value) { value = v.${side}; index = i32(4u * last + ${j}u); }`).join(' ')}
    }`}`
}

/** Elements of a thread on their way at once. */
const AT_ONCE = 8

/** A thread's search of single elements, which come in order: behind the end it sees the last one again, which changes nothing. */
const singles = (better: '>' | '<', lanes: number, most: number, across: boolean) => {
  const all = numbers(Math.min(AT_ONCE, most))
  return `    var r = piece % parts * dim(3u) + l;
    if (r < end) { index = i32(r); value = f32(x[base + r${across ? ' * inner' : ''}]); }
    for (; r < end; r += ${all.length * lanes}u) {
${all.map((u) => `      let r_${u} = ${u === 0 ? 'r' : `min(r + ${u * lanes}u, end - 1u)`}; let v_${u} = f32(x[base + r_${u}${across ? ' * inner' : ''}]);`).join('\n')}
${all.map((u) => `      if (v_${u} ${better} value) { value = v_${u}; index = i32(r_${u}); }`).join('\n')}
    }`
}

/** Threads of a row of single elements: no more than a subgroup where rows are many, so that few wait for each other. */
const MANY_ELEMENTS = 2 ** 18
const OF_SINGLES = { each: 8, most: 64, least: 32, threads: 2 ** 19 }
function lanesOfSingles(length: number, runs: number): number {
  const { each, most, least, threads } = OF_SINGLES
  let lanes = Math.min(THREADS, powerOfTwoFrom(Math.ceil(length / each)))
  while (lanes > least && (lanes / 2) * runs >= threads && length / (lanes / 2) <= most) lanes /= 2
  return lanes
}

/**
 * The index of the largest (`>`) or smallest (`<`) element, the first of equals. Neighbouring outputs are a workgroup's
 * columns where there are any, so that reads are contiguous; else as many neighbouring threads search an output as it has elements for.
 */
function findExtreme(better: '>' | '<', { outer, reduce, inner, parts, span = 0, run, joined }: Search, source: Source, target: Target, subgroups?: number): Step {
  const across = inner > 1
  const pairs = 'values' in source
  // A single row may end within a vector: tensors are padded (tensors.ts).
  const width: Width = pairs || across || run !== undefined ? 1 : outer === 1 ? 4 : widthFor(reduce)
  const perPart = partLength(reduce, parts, width)
  // Threads that search one output, and how far apart they lie.
  const columns = columnsOf(reduce, inner)
  const lanes = across ? THREADS / columns : joined ? THREADS : width === 1 && !pairs && run === undefined && outer * parts * perPart >= MANY_ELEMENTS ? lanesOfSingles(perPart, outer * parts) : lanesFor(Math.ceil(perPart / width), outer * parts)
  const apart = across ? columns : 1
  const beside = across ? Math.ceil(inner / columns) : 1
  const keeps = 'values' in target
  const inputs = pairs ? [{ name: 'x', type: 'f32' }, { name: 'known', type: 'i32' }] : [{ name: 'x', type: storage(source.type, width) }]
  const bindings = [...inputs, ...(keeps ? [{ name: 'best', type: 'f32', write: true }] : []), { name: 'out', type: 'i32', write: true }, ...(joined ? [ARRIVALS] : [])]
  // Only neighbours can share a subgroup.
  const size = across || lanes === 1 ? undefined : subgroups
  const within = size === undefined ? '' : `${shuffled(lanes, size, (stride) => `{ let v = subgroupShuffleXor(value, ${stride}); let i = subgroupShuffleXor(index, ${stride}); if (i >= 0 && wins(v, i, value, index)) { value = v; index = i; } }`)}\n`
  const exchanged = (size !== undefined && size >= lanes) || lanes === 1 ? '' : `  values[lane] = value;
  indices[lane] = index;
  workgroupBarrier();
  for (var stride = ${lanes / 2}u; stride >= ${size ?? 1}u; stride /= 2u) {
    if (l < stride) {
      let other = lane + stride * ${apart}u;
      if (indices[other] >= 0 && wins(values[other], indices[other], value, index)) {
        value = values[other];
        index = indices[other];
        values[lane] = value;
        indices[lane] = index;
      }
    }
    workgroupBarrier();
  }
`
  const place = across
    ? `  let column = group % dim(4u) * ${columns}u + lane % ${columns}u;\n  let piece = group / dim(4u);\n  let l = lane / ${columns}u;`
    : `  let column = 0u;\n  let piece = ${joined ? 'group' : `group * ${THREADS / lanes}u + lane / ${lanes}u`};\n  let l = lane % ${lanes}u;`
  // Two words for each pair, those of an output side by side; indices count on from group to group.
  const left = `  let output = piece / parts % dim(7u);
  let pairs = dim(5u) / dim(7u);
  let first = output * pairs * inner + column;
  let behind = piece / parts / dim(7u);
  if (live && l == 0u) {
    let at = 2u * (first + (behind * parts + piece % parts) * inner);
    leave(at, value);
    leave_word(at + 1u, select(0xfffffffeu, u32(index) + behind * reduce, index >= 0));
  }
  if (is_last(2u * dim(5u) * inner + output * dim(4u) + ${across ? 'group % dim(4u)' : '0u'}, pairs, lane)) {
    value = 0.0;
    index = -1;
    if (live) {
${eachArrival('l', 'pairs', `${lanes}u`, (i, j) => `2u * (first + (${i}) * inner) + ${j}u`, (word, j) => (j === 0 ? `v = bitcast<f32>(${word});` : `let at = i32(${word}); if (at >= 0 && wins(v, at, value, index)) { value = v; index = at; }`), { words: 2, awaited: 'awaited_word' })}
    }
${within}${exchanged}
    if (live && l == 0u) { out[output * inner + column] = index; }
  }`
  const wgsl = `${header(bindings, !pairs && source.type === 'f16', size !== undefined)}
${exchanged === '' ? '' : `var<workgroup> values: array<f32, ${THREADS}>;\nvar<workgroup> indices: array<i32, ${THREADS}>;\n`}${joined ? ARRIVAL_FUNCTIONS : ''}fn wins(v: f32, i: i32, over: f32, at: i32) -> bool { return at < 0 || v ${better} over || (v == over && i < at); }
${entry(`  let inner = dim(0u);
  let reduce = dim(1u);
  let parts = dim(2u);
${place}
${joined ? '  if (piece >= dim(5u)) { return; }\n' : ''}  let live = column < inner && piece < dim(5u);
  let base = ${run === undefined ? 'piece / parts * reduce * inner + column' : `piece * ${run}u`};
  let end = min((piece % parts + 1u) * dim(3u), reduce);
  var value = 0.0;
  var index = -1;
  if (live) {
${width === 4 ? vectors(better, lanes, reduce % 4) : !pairs && run === undefined ? singles(better, lanes, Math.ceil(perPart / lanes), across) : `    for (var r = piece % parts * dim(3u) + l; r < end; r += ${4 * lanes}u) {
${[0, 1, 2, 3].map((u) => `      let r_${u} = ${u === 0 ? 'r' : `min(r + ${u * lanes}u, end - 1u)`}; let v_${u} = f32(x[base + ${run === undefined ? `r_${u} * inner` : `r_${u} / ${run}u * ${outer * run}u + r_${u} % ${run}u`}]);${pairs ? ` let known_${u} = known[base + r_${u} * inner];` : ''}`).join('\n')}
${[0, 1, 2, 3].map((u) => `      { let i = ${pairs ? `known_${u} + i32(r_${u} * dim(6u))` : `i32(r_${u})`}; if (${u === 0 ? '' : `r + ${u * lanes}u < end && `}${pairs ? `known_${u} >= 0 && ` : ''}wins(v_${u}, i, value, index)) { value = v_${u}; index = i; } }`).join('\n')}
    }`}
  }
${within}${exchanged}${joined ? `  var v = 0.0;\n${left}` : `  if (live && l == 0u) {
    ${keeps ? 'best[piece * inner + column] = value;' : ''}
    out[piece * inner + column] = index;
  }`}`)}`
  const buffers: BufferName[] = [...(pairs ? [source.values, source.indices] : [source.x]), ...(keeps ? [target.values] : []), target.indices, ...(joined ? [joined.arrivals] : [])]
  const pieces = outer * parts
  const groups = across ? beside * pieces : Math.ceil(pieces / (THREADS / lanes))
  return step(wgsl, buffers, [inner, reduce, parts, perPart, beside, pieces, span, ...(joined ? [outer / joined.groups] : [])], groups)
}

/** Pairs of an output that its last workgroup searches, workgroups that they come from, and loads that a thread of a workgroup of columns waits for. */
const MOST_JOINED = 2048
const MOST_GROUPS = 4096
const MOST_AWAITED = 64
/** Workgroups of columns that fill any device known here: more of them leave the last one more pairs to search. */
const ENOUGH_OF_COLUMNS = 1024

/** Vectors of a single row for each thread of a workgroup up to which one workgroup is faster than several and their joining. */
const LONGEST_ALONE = 8
/** Vectors of a single row up to which a thread has one of them: more take longer to join than to read. */
const FEW_VECTORS = 2 ** 16

/** Elements of a piece at least where rows are more than a few, and pieces of several rows that fill any device known here: more take longer to join. */
const FEW_ROWS = 64
const SHORTEST_OF_MANY = 4096
const ENOUGH_OF_ROWS = 528

/** Pieces of each of `rows` rows. */
function rowPieces(rows: number, reduce: number): number {
  if (rows > 1) return Math.min(mostPieces(rows, reduce), pieces(reduce, rows <= FEW_ROWS ? SHORTEST_RUN : SHORTEST_OF_MANY, rows, ENOUGH_OF_ROWS))
  const vectors = Math.ceil(reduce / 4)
  return vectors <= LONGEST_ALONE * THREADS ? 1 : Math.min(mostPieces(rows, reduce), pieces(vectors, vectors <= FEW_VECTORS ? THREADS : SHORTEST_RUN, rows))
}

/** Rows of a thread up to which one workgroup of columns is faster than several and their joining. */
const ROWS_ALONE = 24

/** Pieces of columns: about as many as a piece has rows, so that searching the pairs of all pieces takes no longer than searching one. */
const columnPieces = (rows: number, reduce: number, inner: number) => reduce <= (ROWS_ALONE * THREADS) / columnsOf(reduce, inner) ? 1 : Math.min(columnParts(rows, reduce, inner, THREADS, ENOUGH_OF_COLUMNS), Math.max(1, Math.round(Math.sqrt(reduce))))

/** The indices of the largest (`>`) or smallest elements over groups and reduce. */
export function extremes(better: '>' | '<', { outer, reduce, inner, groups }: Geometry, type: Float, subgroups?: number): Program {
  const rows = groups * outer
  const parts = inner === 1 ? rowPieces(rows, reduce) : Math.min(columnPieces(rows, reduce, inner), (MOST_AWAITED * THREADS) / columnsOf(reduce, inner))
  const x: Source = { x: { input: 0 }, type }
  const all = groups * reduce
  if (groups > 1 && inner === 1 && all <= GROUPED_RESULT && (reduce >= LONG_RUN || all * outer <= GROUPED_ELEMENTS))
    return { scratchBytes: [], steps: [findExtreme(better, { outer, reduce: all, inner, parts: 1, run: reduce }, x, { indices: 'output' }, subgroups)] }
  if (parts * groups === 1) return { scratchBytes: [], steps: [findExtreme(better, { outer, reduce, inner, parts }, x, { indices: 'output' }, subgroups)] }
  if (groups === 1 || (inner === 1 && groups * parts <= MOST_JOINED && rows * parts <= MOST_GROUPS)) {
    const counters = outer * (inner === 1 ? 1 : Math.ceil(inner / columnsOf(reduce, inner)))
    const search = { outer: rows, reduce, inner, parts, joined: { arrivals: { scratch: 0 }, groups } }
    return { scratchBytes: [arrivalBytes(2 * rows * parts * inner, counters)], steps: [findExtreme(better, search, x, { indices: 'output' }, subgroups)] }
  }
  // Pairs of values and indices on the way: each step leaves fewer of them, the last one the indices alone.
  const scratchBytes: number[] = []
  const steps: Step[] = []
  let source: Source = x
  const search = (one: Search, results: number) => {
    const found = { values: { scratch: scratchBytes.length }, indices: { scratch: scratchBytes.length + 1 } }
    steps.push(findExtreme(better, one, source, found, subgroups))
    scratchBytes.push(results * 4, results * 4)
    source = found
  }
  search({ outer: rows, reduce, inner, parts }, rows * inner * parts)
  if (parts > 1) search({ outer: rows, reduce: parts, inner, parts: 1 }, rows * inner)
  steps.push(findExtreme(better, { outer: 1, reduce: groups, inner: outer * inner, parts: 1, span: reduce }, source, { indices: 'output' }, subgroups))
  return { scratchBytes, steps }
}
