import type { Dtype } from '@core/case'
import { ARRIVAL_FUNCTIONS, arrivalBytes, ARRIVALS, eachArrival } from '../../wgsl/arrivals'
import { entry, header, step, storage, THREADS, widthFor, working, type Width } from '../../wgsl/header'
import { powerOfTwoFrom } from '../../wgsl/rows'
import type { Program } from '../types'

/** Rows of which a thread keeps the sums of its columns, and those up to which these are vectors. */
const MOST_ROWS = 40
const MOST_OF_VECTORS = 16
/** Vectors beside each other in a workgroup, and bytes of them that are worth a read of their own. */
const WIDEST = 32
const SECTOR = 32
/** Sources that are worth a thread where several share a column, workgroups that fill any device known here, and those that leave little of one idle. */
const LEAST_SOURCES = 8
const ENOUGH_GROUPS = 1024
const FILLED = 264
/** Sources that a thread reads together. */
const AT_ONCE = 4
/** f32 of workgroup memory for sums, partial results that a thread waits for at most, and threads that share those of a result. */
const CELLS = 2048
const MOST_AWAITED = 64
const MOST_JOINING = 16

/** How a workgroup takes sources: `wide` vectors beside each other, `high` sources at a time, of one of `parts` of them. */
export interface FewRowsPlan {
  width: Width
  vectors: number
  wide: number
  high: number
  /** Workgroups beside each other. */
  blocks: number
  parts: number
  /** Threads that share the joining of a result of the parts. */
  joining: number
}

/** Undefined where rows are many, or where the parts of many sources are too many to join in the same dispatch. */
export function planFewRows(rows: number, dim: number, indices: number): FewRowsPlan | undefined {
  if (rows > MOST_ROWS) return undefined
  const width = rows <= MOST_OF_VECTORS ? widthFor(dim) : 1
  const vectors = dim / width
  // Single elements that fill a device by themselves: no threads share a column, and none waits for others.
  if (width === 1 && vectors >= ENOUGH_GROUPS * THREADS) return { width, vectors, wide: THREADS, high: 1, blocks: Math.ceil(vectors / THREADS), parts: 1, joining: 1 }
  for (let wide = Math.min(WIDEST, powerOfTwoFrom(vectors)); ; wide /= 2) {
    const high = THREADS / wide
    const blocks = Math.ceil(vectors / wide)
    const words = rows * wide * width
    const joining = Math.max(1, Math.min(MOST_JOINING, Math.floor(THREADS / words)))
    const most = Math.max(1, Math.floor((MOST_AWAITED * Math.min(THREADS, joining * words)) / words))
    const wanted = Math.max(1, Math.min(Math.floor(indices / (high * LEAST_SOURCES)), Math.floor(ENOUGH_GROUPS / blocks)))
    const parts = Math.min(most, wanted)
    // None of the parts is empty.
    if (parts === wanted || blocks * parts >= FILLED) return { width, vectors, wide, high, blocks, parts: Math.ceil(indices / Math.ceil(indices / parts)), joining }
    if (wide === 1 || wide * width * 4 <= SECTOR) return undefined
  }
}

/**
 * Sources for few rows, in one dispatch without atomic additions: a thread reads its columns of every so many sources, and adds them to the sums
 * of the rows, which it keeps in registers. The last workgroup of some columns joins the parts of the others.
 */
export function fewRows(rows: number, dim: number, indices: number, dtype: Dtype): Program | undefined {
  const plan = planFewRows(rows, dim, indices)
  if (!plan) return undefined
  const { width, vectors, wide, high, blocks, parts, joining } = plan
  const [type, vf] = [storage(dtype, width), working(width)]
  const split = parts > 1
  const own = split ? storage(dtype, 1) : type
  const bindings = [{ name: 'x', type: own }, { name: 'indices', type: 'i32' }, { name: 'src', type }, { name: 'out', type: own, write: true }, ...(split ? [ARRIVALS] : [])]
  const each = (text: (r: number) => string, from = 0, to = rows) => Array.from({ length: to - from }, (_, r) => text(from + r)).join('\n')
  const alone = high === 1
  const terms = Array.from({ length: AT_ONCE }, (_, u) => u)
  const words = rows * wide * width
  const together = CELLS / THREADS / width
  const sides = width === 4 ? ['.x', '.y', '.z', '.w'] : ['']
  const joins = (count: number) => {
    const lines: string[] = []
    for (let left = high; left > 1; ) {
      const by = left % 4 === 0 ? 4 : 2
      left /= by
      const others = Array.from({ length: by }, (_, i) => `sums[at + ${i * left * wide}u]`).join(' + ')
      lines.push(`  for (var e = lane; e < ${count * left * wide}u; e += ${THREADS}u) { let at = e / ${left * wide}u * ${THREADS}u + e % ${left * wide}u; sums[at] = ${others}; }\n  workgroupBarrier();`)
    }
    return lines.join('\n')
  }
  const rounds = alone ? [each((r) => `  if (live) { out[${r}u * vectors + column] = ${type}(sum_${r}); }`)] : Array.from({ length: Math.ceil(rows / together) }, (_, i) => i * together).map((first) => {
    const count = Math.min(together, rows - first)
    return `${each((r) => `  sums[${(r - first) * THREADS}u + lane] = sum_${r};`, first, first + count)}
  workgroupBarrier();
${joins(count)}
  for (var e = lane; e < ${count * wide}u; e += ${THREADS}u) {
    let total = sums[e / ${wide}u * ${THREADS}u + e % ${wide}u];
${split
    ? sides.map((side, j) => `    leave((block * ${parts}u + part) * ${words}u + (${first * wide}u + e) * ${width}u + ${j}u, total${side});`).join('\n')
    : `    let to = block * ${wide}u + e % ${wide}u;
    if (to < vectors) { let at = (${first}u + e / ${wide}u) * vectors + to; out[at] = ${type}(${vf}(x[at]) + total); }`}
  }
  workgroupBarrier();`
  })
  const joined = `  if (is_last(dim(2u) * ${parts * words}u + block, ${parts}u, lane)) {
    for (var e = lane; e < ${joining * words}u; e += ${THREADS}u) {
      var rest = 0.0;
      let word = e % ${words}u;
${eachArrival(`e / ${words}u`, `${parts}u`, `${joining}u`, (i) => `(block * ${parts}u + ${i}) * ${words}u + word`, (value) => `rest += ${value};`)}
${joining > 1 ? '      joined[e] = rest;\n    }\n    workgroupBarrier();' : ''}
${joining > 1 ? `    if (lane < ${words}u) {
      let word = lane;
      var rest = 0.0;
      for (var i = 0u; i < ${joining}u; i++) { rest += joined[i * ${words}u + lane]; }` : ''}
      let to = block * ${wide * width}u + word % ${wide * width}u;
      if (to < vectors * ${width}u) { let at = word / ${wide * width}u * vectors * ${width}u + to; out[at] = ${own}(f32(x[at]) + rest); }
    }
  }`
  // Sources behind the last one are read again and dropped.
  const load = (u: number) => `    let s_${u} = ${u === 0 ? 's' : `min(s + ${u * high}u, end - 1u)`};
    let to_${u} = ${u === 0 ? 'indices[s]' : `select(-1, indices[s_${u}], s + ${u * high}u < end)`};
    let v_${u} = ${vf}(src[s_${u} * vectors + column]);`
  const wgsl = `${header(bindings, dtype === 'f16')}
${alone ? '' : `var<workgroup> sums: array<${vf}, ${Math.min(together, rows) * THREADS}>;`}
${split && joining > 1 ? `var<workgroup> joined: array<f32, ${joining * words}>;\n` : ''}${split ? ARRIVAL_FUNCTIONS : ''}${entry(`  let vectors = dim(0u);
  let block = group % dim(2u);
  let part = group / dim(2u);
  if (part >= ${parts}u) { return; }
  let live = block * ${wide}u + lane % ${wide}u < vectors;
  let column = min(block * ${wide}u + lane % ${wide}u, vectors - 1u);
${each((r) => `  var sum_${r} = ${alone ? `${vf}(x[${r}u * vectors + column])` : `${vf}(0.0)`};`)}
  let end = min(dim(1u), (part + 1u) * dim(3u));
  for (var s = part * dim(3u) + lane / ${wide}u; s < end; s += ${AT_ONCE * high}u) {
${terms.map(load).join('\n')}
${terms.map((u) => each((r) => `    if (to_${u} == ${r}) { sum_${r} += v_${u}; }`)).join('\n')}
  }
${rounds.join('\n')}
${split ? joined : ''}`)}`
  return { scratchBytes: split ? [arrivalBytes(blocks * parts * words, blocks)] : [], steps: [step(wgsl, [{ input: 0 }, { input: 1 }, { input: 2 }, 'output', ...(split ? [{ scratch: 0 }] : [])], [vectors, indices, blocks, Math.ceil(indices / parts)], blocks * parts)] }
}
