import { entry, header, numbers, step, storage, THREADS, working, type Width } from '../../wgsl/header'
import { exchange, planRows, powerOfTwoFrom, reduction, sumOf } from '../../wgsl/rows'
import { dimOf, type BufferName, type KernelShape, type Program, type Step } from '../types'

/** Most vectors of a row that a thread holds of each tensor, and those up to which its registers have room for the next row as well. */
const MAX_HELD = 8
const HELD_AHEAD = 4
/** Threads of the largest workgroup whose threads have so many registers. */
const MOST_THREADS = 512
/** Pieces of rows that fill any device known here, and rows of each from which on their sums are worth their own step. */
const ENOUGH_PIECES = 256
/** The same where a multiprocessor has room for one workgroup of long rows: each of the devices known here has one. */
const PIECES_OF_LONG = 132
const FEWEST_ROWS = 8
/** Threads of a row up to which it is short. Workgroups join the sums of the short rows that they share, so one row of each piece is enough. */
const MOST_LANES_OF_SHORT = 64
const FEWEST_SHORT_ROWS = 1
/** Workgroups for short rows, twice as many where few threads share a row, and vectors of a thread by width. */
const GROUPS_OF_SHORT = 264
const FEW_LANES = 32
const HELD_OF_SHORT = { 1: 4, 4: 2 } as const

/** How workgroups take rows: `lanes` threads a row, each `held` vectors of it; `pieces` rows at a time in all. */
export interface NormBackwardPlan {
  width: Width
  vectors: number
  lanes: number
  threads: number
  rowsPerGroup: number
  held: number
  pieces: number
  /** Whether the next row is on its way while one is computed. */
  ahead: boolean
}

/** Undefined where rows are too long to hold, or too few. */
export function planNormBackward(tokens: number, length: number, most = THREADS): NormBackwardPlan | undefined {
  const usual = planRows(tokens, length)
  const { width, vectors } = usual
  const isLong = usual.lanes === THREADS && vectors > HELD_AHEAD * THREADS && most >= MOST_THREADS
  const isShort = usual.lanes <= MOST_LANES_OF_SHORT
  const lanes = isLong ? MOST_THREADS : isShort ? Math.max(usual.lanes, Math.min(THREADS, powerOfTwoFrom(Math.ceil(vectors / HELD_OF_SHORT[width])))) : usual.lanes
  const threads = Math.max(THREADS, lanes)
  const rowsPerGroup = threads / lanes
  const held = Math.ceil(vectors / lanes)
  if (held > MAX_HELD || tokens < (isShort ? FEWEST_SHORT_ROWS : FEWEST_ROWS) * ENOUGH_PIECES * rowsPerGroup) return undefined
  const pieces = isLong && width === 4 ? PIECES_OF_LONG : (isShort ? Math.min(lanes <= FEW_LANES ? 2 * GROUPS_OF_SHORT : GROUPS_OF_SHORT, Math.ceil(tokens / rowsPerGroup)) : ENOUGH_PIECES) * rowsPerGroup
  return { width, vectors, lanes, threads, rowsPerGroup, held, pieces, ahead: held <= HELD_AHEAD }
}

/**
 * dx of a normalization together with the sums over tokens for dweight and, with a mean, dbias: every element is read once. A workgroup
 * takes every so many rows and keeps the sums of its columns in registers; a second step adds the sums of all workgroups. Undefined
 * where rows are too long for that, or too few.
 */
export function fusedNormBackward(shape: KernelShape, layer: boolean): Program | undefined {
  const [tokens, length] = [dimOf(shape, 0), dimOf(shape, 1)]
  const plan = planNormBackward(tokens, length, shape.threads)
  if (!plan) return undefined
  const { width, vectors, lanes, threads, rowsPerGroup, held, pieces, ahead } = plan
  const dtype = shape.dtype === 'f16' ? 'f16' : 'f32'
  const [type, vf] = [storage(dtype, width), working(width)]
  const each = (text: (k: number) => string) => Array.from({ length: held }, (_, k) => text(k)).join('\n')
  // Both sums leave no registers for the elements of longer rows, which are read again: caches hold them.
  const again = layer && !ahead
  const weight = (k: number) => `${vf}(weight_in[min(l + ${k * lanes}u, vectors - 1u)])`
  const read = (name: string, base: string, k: number) => `${vf}(${name}_in[${base} + ${k * lanes}u])`
  /** The scalars and elements of a row, under names that begin with `next`: zeros where it is not `live`. */
  const scalars = (next: string, row: string) => `var ${next}rstd = rstd_of[${row}];${layer ? ` var ${next}mean = mean_of[${row}];` : ''}`
  const loads = (next: string, base: string, live: string, k: number) => `var ${next}grad_${k} = ${vf}(0.0); var ${next}x_${k} = ${vf}(0.0); if (${live} && has_${k}) { ${next}grad_${k} = ${read('grad', base, k)}; ${next}x_${k} = ${read('x', base, k)}; }`
  const h = (k: number) => (layer ? `(x_${k} - mean) * rstd` : `x_${k} * rstd`)
  const reduced = layer ? 'vec2<f32>' : 'f32'
  const bindings = [
    { name: 'grad_in', type }, { name: 'x_in', type }, { name: 'weight_in', type }, ...(layer ? [{ name: 'mean_of', type: 'f32' }] : []), { name: 'rstd_of', type: 'f32' },
    { name: 'out', type, write: true }, { name: 'sums', type: vf, write: true },
  ]
  const kinds = layer ? 2 : 1
  const begin = ahead ? `  let first_row = min(piece, tokens - 1u);
  ${scalars('', 'first_row')}
${each((k) => `  ${loads('', 'first_row * vectors + l', 'piece < tokens', k)}`)}` : ''
  const loaded = ahead
    ? `    let next_row = min(first + pieces + piece, tokens - 1u);
    let more = first + pieces + piece < tokens;
    ${scalars('next_', 'next_row')}
${each((k) => `    ${loads('next_', 'next_row * vectors + l', 'more', k)}`)}`
    : `    ${scalars('', 'row')}
${again ? '' : each((k) => `    ${loads('', 'base', 'live', k)}`)}`
  const taken = ahead ? `    rstd = next_rstd;${layer ? ' mean = next_mean;' : ''}\n${each((k) => `    grad_${k} = next_grad_${k}; x_${k} = next_x_${k};`)}` : ''
  // What the rows of a workgroup have is joined in its memory.
  const groups = pieces / rowsPerGroup
  const joins = ['dweight', ...(layer ? ['dbias'] : [])].map((name, kind) => each((k) => `  rows[lane] = ${name}_${k};
  workgroupBarrier();
${joinedLanes('rows', rowsPerGroup, lanes)}
  if (lane < ${lanes}u && has_${k} && group < ${groups}u) { sums[(${kind * groups}u + group) * vectors + l + ${k * lanes}u] = rows[lane]; }
  workgroupBarrier();`)).join('\n')
  const wgsl = `${header(bindings, dtype === 'f16', shape.subgroups !== undefined)}${exchange(threads, reduced)}${reduction('sum', lanes, (a, b) => `${a} + ${b}`, shape.subgroups, reduced)}${rowsPerGroup > 1 ? `var<workgroup> rows: array<${vf}, ${threads}>;\n` : ''}
${entry(`  let l = lane % ${lanes}u;
  let tokens = dim(0u);
  let vectors = dim(1u);
  let length = f32(dim(2u));
  let pieces = dim(3u);
  let piece = group * ${rowsPerGroup}u + lane / ${lanes}u;
${each((k) => `  var dweight_${k} = ${vf}(0.0);${layer ? ` var dbias_${k} = ${vf}(0.0);` : ''}
  let has_${k} = l + ${k * lanes}u < vectors;`)}
${begin}
  for (var first = 0u; first < tokens; first += pieces) {
    let live = first + piece < tokens;
    let row = min(first + piece, tokens - 1u);
    let base = row * vectors + l;
${loaded}
    var along_sum = ${vf}(0.0);${layer ? ` var plain_sum = ${vf}(0.0);` : ''}
${each((k) => `    { ${again ? `${loads('', 'base', 'live', k)} ` : ''}let h = ${h(k)}; let g = grad_${k} * ${weight(k)}; along_sum += g * h; dweight_${k} += grad_${k} * h;${layer ? ` plain_sum += g; dbias_${k} += grad_${k};` : ''} }`)}
${layer ? `    let both = reduce_sum(vec2<f32>(${sumOf('along_sum', width)}, ${sumOf('plain_sum', width)}), lane) / length; let along = both.x; let plain = both.y;` : `    let along = reduce_sum(${sumOf('along_sum', width)}, lane) / length;`}
${each((k) => `    if (live && has_${k}) { ${again ? `let grad_${k} = ${read('grad', 'base', k)}; let x_${k} = ${read('x', 'base', k)}; ` : ''}out[base + ${k * lanes}u] = ${type}(rstd * (grad_${k} * ${weight(k)}${layer ? ' - plain' : ''} - ${h(k)} * along)); }`)}
${taken}
  }
${rowsPerGroup === 1 ? each((k) => `  if (has_${k}) { sums[piece * vectors + l + ${k * lanes}u] = dweight_${k};${layer ? ` sums[(pieces + piece) * vectors + l + ${k * lanes}u] = dbias_${k};` : ''} }`) : joins}`, threads)}`
  const buffers: BufferName[] = [{ input: 0 }, { input: 1 }, { input: 2 }, { input: 3 }, ...(layer ? [{ input: 4 }] : []), 'output', { scratch: 0 }]
  return {
    scratchBytes: [4 * kinds * groups * length],
    steps: [step(wgsl, buffers, [tokens, vectors, length, pieces], groups), sumOfGroups(dtype, width, vectors, kinds, groups)],
  }
}

/** Bytes beside each other that a workgroup of the second step reads, and sums that a thread reads together. */
const BESIDE = 128
const AT_ONCE = 8

/** Adds up what `groups` workgroups left of each of `kinds` sums of columns: dweight, and dbias. */
function sumOfGroups(dtype: 'f32' | 'f16', width: Width, vectors: number, kinds: number, groups: number): Step {
  const vf = working(width)
  const wide = Math.min(BESIDE / 4 / width, powerOfTwoFrom(vectors))
  const high = THREADS / wide
  const beside = Math.ceil(vectors / wide)
  const all = numbers(Math.min(AT_ONCE, Math.ceil(groups / high)))
  const type = storage(dtype, width)
  const written = (name: string) => `${name}[column] = ${type}(rows[lane]);`
  const wgsl = `${header([{ name: 'sums', type: vf }, { name: 'dweight', type, write: true }, ...(kinds > 1 ? [{ name: 'dbias', type, write: true }] : [])], dtype === 'f16')}
var<workgroup> rows: array<${vf}, ${THREADS}>;
${entry(`  let column = group % ${beside}u * ${wide}u + lane % ${wide}u;
  let kind = min(group / ${beside}u, ${kinds - 1}u);
  let base = kind * ${groups * vectors}u + min(column, ${vectors - 1}u);
  var sum = ${vf}(0.0);
  for (var g = lane / ${wide}u; g < ${groups}u; g += ${all.length * high}u) {
${all.map((u) => `    let v_${u} = sums[base + ${u === 0 ? 'g' : `min(g + ${u * high}u, ${groups - 1}u)`} * ${vectors}u];`).join('\n')}
${all.map((u) => `    sum += ${u === 0 ? 'v_0' : `select(${vf}(0.0), v_${u}, g + ${u * high}u < ${groups}u)`};`).join('\n')}
  }
  rows[lane] = sum;
  workgroupBarrier();
${joinedLanes('rows', high, wide)}
  if (lane < ${wide}u && column < ${vectors}u) { ${kinds > 1 ? `if (kind == 0u) { ${written('dweight')} } else { ${written('dbias')} }` : written('dweight')} }`)}`
  return step(wgsl, [{ scratch: 0 }, { output: 1 }, ...(kinds > 1 ? [{ output: 2 }] : [])], [], beside * kinds)
}

/** WGSL that adds up `count` rows of `wide` threads each into the first, in `name`. */
function joinedLanes(name: string, count: number, wide: number): string {
  const joins: string[] = []
  for (let left = count; left > 1; ) {
    const by = left % 4 === 0 ? 4 : 2
    left /= by
    const at = (q: number) => `${name}[lane + ${q * left * wide}u]`
    joins.push(`  if (lane < ${left * wide}u) { ${name}[lane] = ${by === 4 ? `(${name}[lane] + ${at(1)}) + (${at(2)} + ${at(3)})` : `${name}[lane] + ${at(1)}`}; }\n  workgroupBarrier();`)
  }
  return joins.join('\n')
}
