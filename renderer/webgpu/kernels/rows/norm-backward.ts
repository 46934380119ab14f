import { entry, header, step, storage, THREADS, working, type Width } from '../../wgsl/header'
import { mapped } from '../../wgsl/mapped'
import { exchange, planRows, reduction, sumOf } from '../../wgsl/rows'
import { FOLDS } from '../reduction/fold'
import { FoldSteps } from '../reduction/steps'
import { dimOf, type BufferName, type KernelShape, type Program } from '../types'

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
  const [lanes, rowsPerGroup] = isLong ? [MOST_THREADS, 1] : [usual.lanes, usual.rowsPerGroup]
  const held = Math.ceil(vectors / lanes)
  if (held > MAX_HELD || tokens < FEWEST_ROWS * ENOUGH_PIECES * rowsPerGroup) return undefined
  const pieces = isLong && width === 4 ? PIECES_OF_LONG : ENOUGH_PIECES * rowsPerGroup
  return { width, vectors, lanes, threads: Math.max(THREADS, lanes), rowsPerGroup, held, pieces, ahead: held <= HELD_AHEAD }
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
  const wgsl = `${header(bindings, dtype === 'f16', shape.subgroups !== undefined)}${exchange(threads, reduced)}${reduction('sum', lanes, (a, b) => `${a} + ${b}`, shape.subgroups, reduced)}
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
${each((k) => `  if (has_${k}) { sums[piece * vectors + l + ${k * lanes}u] = dweight_${k};${layer ? ` sums[(pieces + piece) * vectors + l + ${k * lanes}u] = dbias_${k};` : ''} }`)}`, threads)}`
  const buffers: BufferName[] = [{ input: 0 }, { input: 1 }, { input: 2 }, { input: 3 }, ...(layer ? [{ input: 4 }] : []), 'output', { scratch: 0 }]
  const scratchBytes = [4 * kinds * pieces * length]
  const steps = [step(wgsl, buffers, [tokens, vectors, length, pieces], pieces / rowsPerGroup)]
  const target: BufferName = layer ? { scratch: 1 } : { output: 1 }
  if (layer) scratchBytes.push(4 * kinds * length)
  const fold = new FoldSteps(shape, FOLDS['sum']!, layer ? 'f32' : dtype, pieces, target, scratchBytes.length)
  fold.columns({ from: { scratch: 0 }, type: 'f32' }, kinds, pieces, length, true)
  scratchBytes.push(...fold.scratchBytes)
  steps.push(...fold.steps)
  if (layer) {
    const split = mapped({
      tensors: [{ name: 'both', at: target, type: 'f32' }, { name: 'dweight', at: { output: 1 }, write: true }, { name: 'dbias', at: { output: 2 }, write: true }],
      body: '  dweight[i] = own(both[i]);\n  dbias[i] = own(both[dim(0u) + i]);',
    }, dtype, length)
    steps.push(...split.steps)
  }
  return { scratchBytes, steps }
}
