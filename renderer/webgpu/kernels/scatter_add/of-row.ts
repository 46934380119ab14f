import { entry, header, step, storage, THREADS, widthFor, working } from '../../wgsl/header'
import { powerOfTwoFrom } from '../../wgsl/rows'
import type { Program } from '../types'

/** Indices that all workgroups read in less time than lists are built by a dispatch of their own, or of long rows to so many elements that are added, and those of a workgroup. */
const MOST_COMPARED = 5 * 2 ** 19
const ELEMENTS_TO_COMPARED = 5
const MOST_INDICES = 2 ** 13
/** Indices of a thread that are on their way together: the sources that they may find fit workgroup memory. */
const AT_ONCE = 10
/** Workgroups that fill a device, and vectors of a row that are worth one of several. */
const ENOUGH_GROUPS = 264
const NARROWEST = 32
/** Sources that a thread adds, of those that share a vector, and threads that do at most. */
const LEAST_ADDED = 4
const MOST_SHARES = 16
/** Sources that a thread reads together, of a row that has many and of others. */
const TOGETHER = { many: 8, few: 4 }

/** How workgroups take rows, each `wide` vectors of one in `blocks`: `rounds` of `each` indices of a thread, then the sources found by `shares` threads for each vector. */
export interface OfRowPlan {
  each: number
  rounds: number
  vectors: number
  blocks: number
  wide: number
  shares: number
  together: number
}

/** Undefined where workgroups would read many indices, or rows are copied more than added to. */
export function planOfRow(rows: number, dim: number, indices: number): OfRowPlan | undefined {
  const vectors = dim / widthFor(dim)
  const least = Math.ceil(vectors / THREADS)
  const more = Math.max(least, Math.min(Math.ceil(vectors / NARROWEST), Math.ceil(ENOUGH_GROUPS / rows)))
  const isWorth = (blocks: number) => rows * blocks * indices <= Math.max(MOST_COMPARED, (indices * dim) / ELEMENTS_TO_COMPARED)
  const wide = Math.ceil(vectors / (isWorth(more) ? more : least))
  const blocks = Math.ceil(vectors / wide)
  if (indices < rows || indices > MOST_INDICES || !isWorth(blocks)) return undefined
  const rounds = Math.ceil(indices / (AT_ONCE * THREADS))
  const shares = Math.min(MOST_SHARES, powerOfTwoFrom(Math.ceil(indices / rows / LEAST_ADDED)), Math.floor(THREADS / wide))
  const together = indices / rows >= 2 * TOGETHER.many * shares ? TOGETHER.many : TOGETHER.few
  return { each: Math.ceil(indices / rounds / THREADS), rounds, vectors, blocks, wide, shares, together }
}

/**
 * Some sources for some rows, in one dispatch: a workgroup lists the sources of its row in workgroup memory, and adds them to some vectors of it.
 * Which source of a list stands first is open. dims: rows, indices, blocks.
 */
export function ofRow(dim: number, rows: number, indices: number, { each, rounds, vectors, blocks, wide, shares, together }: OfRowPlan): Program {
  const width = widthFor(dim)
  const [type, vf] = [storage('f32', width), working(width)]
  const list = (count: number, text: (u: number) => string) => Array.from({ length: count }, (_, u) => text(u)).join('\n')
  const size = each * THREADS
  const wgsl = `${header([{ name: 'x', type }, { name: 'indices', type: 'i32' }, { name: 'src', type }, { name: 'out', type, write: true }], false)}
var<workgroup> found: array<u32, ${size}>;
var<workgroup> count: atomic<u32>;
${shares > 1 ? `var<workgroup> sums: array<${vf}, ${shares * wide}>;\n` : ''}${entry(`  let wanted = group / dim(2u);
  if (wanted >= dim(0u)) { return; }
  let row = i32(wanted);
  let share = lane / ${wide}u;
  let column = group % dim(2u) * ${wide}u + lane % ${wide}u;
  let live = column < ${vectors}u && share < ${shares}u;
  let place = wanted * ${vectors}u + min(column, ${vectors - 1}u);
  let before = x[place];
  var sum = ${vf}(0.0);
  for (var start = 0u; start < ${rounds * size}u; start += ${size}u) {
${list(each, (u) => `    let s_${u} = start + ${u * THREADS}u + lane; let to_${u} = indices[min(s_${u}, dim(1u) - 1u)];`)}
${list(each, (u) => `    if (to_${u} == row && s_${u} < dim(1u)) { found[atomicAdd(&count, 1u)] = s_${u}; }`)}
    workgroupBarrier();
    let known = atomicLoad(&count);
    if (live) {
      for (var i = share; i < known; i += ${together * shares}u) {
${list(together, (u) => `        let v_${u} = src[found[min(i + ${u * shares}u, known - 1u)] * ${vectors}u + column];`)}
${list(together, (u) => `        sum += select(${vf}(0.0), v_${u}, i + ${u * shares}u < known);`)}
      }
    }
${rounds > 1 ? '    workgroupBarrier();\n    if (lane == 0u) { atomicStore(&count, 0u); }\n    workgroupBarrier();\n' : ''}  }
${shares > 1 ? `  if (share < ${shares}u) { sums[lane] = sum; }
  workgroupBarrier();
  if (live && share == 0u) {
${list(shares - 1, (u) => `    sum += sums[lane + ${(u + 1) * wide}u];`)}
    out[place] = before + sum;
  }` : '  if (live) { out[place] = before + sum; }'}`)}`
  return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, { input: 1 }, { input: 2 }, 'output'], [rows, indices, blocks], rows * blocks)] }
}
