import { type BufferName, dimOf, type Kernel, type KernelShape, type Program, type Step } from '../types'
import { columnsOf, type Fold, FOLDS, lanesFor, type Pair } from './fold'
import { columnParts, type Float, FoldSteps, type Held, pieces, SHORTEST_RUN } from './steps'
import { entry, header, step, storage, THREADS, widthFor, type Width } from '../../wgsl/header'
import { shuffled } from '../../wgsl/rows'

/** Where the extreme element of each output is looked for: x [outer, reduce, inner], the middle axis cut into `parts` pieces. */
export interface Search {
  outer: number
  reduce: number
  inner: number
  parts: number
  /** What the index of a pair grows by with its place along the middle axis: the elements that each pair was found among. 0 where absent. */
  span?: number
}

/** Where values and their indices come from: elements of x, or the pairs that an earlier step left. */
type Source = { x: BufferName; type: 'f32' | 'f16' } | { values: BufferName; indices: BufferName }
/** Where they go: the indices alone, or pairs for the next step. */
type Target = { indices: BufferName } | { values: BufferName; indices: BufferName }

/** Elements of a part: whole vectors where rows are. */
const partLength = (reduce: number, parts: number) => Math.ceil(reduce / parts / widthFor(reduce)) * widthFor(reduce)

/** A thread's search of its vectors, two on their way at once. Its elements come in order, so the first of equals is kept without comparing indices. */
const vectors = (better: '>' | '<', lanes: number) => {
  const search = (v: string, at: string) => ['x', 'y', 'z', 'w'].map((side, j) => `if (${v}.${side} ${better} value) { value = ${v}.${side}; index = i32(4u * (${at}) + ${j}u); }`).join(' ')
  const vector = (at: string) => `vec4<f32>(x[base / 4u + ${at}])`
  return `    var i = piece % parts * dim(3u) / 4u + l;
    let last = end / 4u;
    if (i < last) { value = ${vector('i')}.x; index = i32(4u * i); }
    for (; i + ${3 * lanes}u < last; i += ${4 * lanes}u) {
      ${[0, 1, 2, 3].map((q) => `let v${q} = ${vector(`i + ${q * lanes}u`)};`).join(' ')}
      ${[0, 1, 2, 3].map((q) => search(`v${q}`, `i + ${q * lanes}u`)).join('\n      ')}
    }
    for (; i < last; i += ${lanes}u) { let v = ${vector('i')}; ${search('v', 'i')} }`
}

/**
 * The index of the largest (`>`) or smallest (`<`) element, the first of equals. Neighbouring outputs are a workgroup's
 * columns where there are any, so that reads are contiguous; else as many neighbouring threads search an output as it has elements for.
 */
export function findExtreme(better: '>' | '<', { outer, reduce, inner, parts, span = 0 }: Search, source: Source, target: Target, subgroups?: number): Step {
  const across = inner > 1
  const pairs = 'values' in source
  const perPart = partLength(reduce, parts)
  // Threads that search one output, and how far apart they lie.
  const width: Width = pairs || across ? 1 : widthFor(reduce)
  const columns = columnsOf(reduce, inner)
  const lanes = across ? THREADS / columns : lanesFor(Math.ceil(perPart / width), outer * parts)
  const apart = across ? columns : 1
  const beside = across ? Math.ceil(inner / columns) : 1
  const keeps = 'values' in target
  const inputs = pairs ? [{ name: 'x', type: 'f32' }, { name: 'known', type: 'i32' }] : [{ name: 'x', type: storage(source.type, width) }]
  const bindings = [...inputs, ...(keeps ? [{ name: 'best', type: 'f32', write: true }] : []), { name: 'out', type: 'i32', write: true }]
  // Only neighbours can share a subgroup.
  const size = across || lanes === 1 ? undefined : subgroups
  const within = size === undefined ? '' : `${shuffled(lanes, size, (stride) => `{ let v = subgroupShuffleXor(value, ${stride}); let i = subgroupShuffleXor(index, ${stride}); if (i >= 0 && wins(v, i, value, index)) { value = v; index = i; } }`)}\n`
  const joined = size !== undefined && size >= lanes
  const exchanged = joined || lanes === 1 ? '' : `  values[lane] = value;
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
    : `  let column = 0u;\n  let piece = group * ${THREADS / lanes}u + lane / ${lanes}u;\n  let l = lane % ${lanes}u;`
  const wgsl = `${header(bindings, !pairs && source.type === 'f16', size !== undefined)}
${exchanged === '' ? '' : `var<workgroup> values: array<f32, ${THREADS}>;\nvar<workgroup> indices: array<i32, ${THREADS}>;\n`}fn wins(v: f32, i: i32, over: f32, at: i32) -> bool { return at < 0 || v ${better} over || (v == over && i < at); }
${entry(`  let inner = dim(0u);
  let reduce = dim(1u);
  let parts = dim(2u);
${place}
  let live = column < inner && piece < dim(5u);
  let base = piece / parts * reduce * inner + column;
  let end = min((piece % parts + 1u) * dim(3u), reduce);
  var value = 0.0;
  var index = -1;
  if (live) {
${width === 4 ? vectors(better, lanes) : `    for (var r = piece % parts * dim(3u) + l; r < end; r += ${lanes}u) {
      let v = f32(x[base + r * inner]);
      let i = ${pairs ? 'known[base + r * inner] + i32(r * dim(6u))' : 'i32(r)'};
      if (${pairs ? 'known[base + r * inner] >= 0 && ' : ''}wins(v, i, value, index)) { value = v; index = i; }
    }`}
  }
${within}${exchanged}  if (live && l == 0u) {
    ${keeps ? 'best[piece * inner + column] = value;' : ''}
    out[piece * inner + column] = index;
  }`)}`
  const buffers: BufferName[] = [...(pairs ? [source.values, source.indices] : [source.x]), ...(keeps ? [target.values] : []), target.indices]
  const pieces = outer * parts
  const groups = across ? beside * pieces : Math.ceil(pieces / (THREADS / lanes))
  return step(wgsl, buffers, [inner, reduce, parts, perPart, beside, pieces, span], groups)
}

const floatOf = (shape: KernelShape): Float => (shape.dtype === 'f16' ? 'f16' : 'f32')

/** [groups, outer, reduce, inner] of x: results are folds over groups and reduce. */
interface Geometry {
  outer: number
  reduce: number
  inner: number
  groups: number
}

const geometryOf = (shape: KernelShape): Geometry => ({ outer: dimOf(shape, 0), reduce: dimOf(shape, 1), inner: dimOf(shape, 2), groups: shape.dims[3] ?? 1 })

/** Elements up to which a reduction over the first and the last axis is one step: reads jump between runs, and caches hold what they skip. */
const GROUPED_ELEMENTS = 2 ** 20

const folding = (fold: Fold): Kernel => ({
  dtypes: ['f32', 'f16'],
  build: (shape): Program => {
    const { outer, reduce, inner, groups } = geometryOf(shape)
    const steps = new FoldSteps(shape, fold, floatOf(shape), groups * reduce)
    const x: Held = { from: { input: 0 }, type: floatOf(shape) }
    const whole = groups === 1
    if (!whole && inner === 1 && groups * reduce <= SHORTEST_RUN && groups * outer * reduce <= GROUPED_ELEMENTS) {
      steps.grouped(x, groups, outer, reduce)
      return steps
    }
    const part = inner === 1 ? steps.rows(x, groups * outer, reduce, whole) : steps.columns(x, groups * outer, reduce, inner, whole)
    if (!whole) steps.columns(part, 1, groups, outer * inner, true)
    return steps
  },
})

/** A fold of what two vectors make element by element. */
const paired = (fold: Fold, of: Pair['of']): Kernel => ({
  dtypes: ['f32', 'f16'],
  build: (shape): Program => {
    const n = dimOf(shape, 0)
    const steps = new FoldSteps(shape, fold, floatOf(shape), n)
    steps.rows({ from: { input: 0 }, type: floatOf(shape) }, 1, n, true, { from: { input: 1 }, of })
    return steps
  },
})

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
      steps.push(findExtreme(better, geometry, source, last ? { indices: 'output' } : pairs, shape.subgroups))
      if (last) return
      scratchBytes.push(results * 4, results * 4)
      source = pairs
    }
    const rows = groups * outer
    const parts = inner === 1 ? pieces(reduce, 4 * SHORTEST_RUN, rows) : columnParts(rows, reduce, inner)
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
  dot: paired(FOLDS['sum']!, (a, b) => `${a} * ${b}`),
  mse_loss: paired(FOLDS['mean']!, (a, b) => `(${a} - ${b}) * (${a} - ${b})`),
  argmax: extreme('>'),
  argmin: extreme('<'),
}
export default kernels
