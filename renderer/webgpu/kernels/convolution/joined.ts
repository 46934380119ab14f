import { entry, header, numbers, step, storage, THREADS } from '../../wgsl/header'
import { powerOfTwoFrom } from '../../wgsl/rows'
import type { KernelShape, Step } from '../types'

/** Workgroups that fill a device, threads that share the parts of an output at most, and parts of a thread that are on their way together. */
const ENOUGH_GROUPS = 264
const MOST_SHARES = 16
const TOGETHER = 8

/** Threads that share the parts of each of so many outputs: as many as have several of these, until there are enough workgroups. */
export function sharesOf(outputs: number, parts: number): number {
  let shares = 1
  while (shares < Math.min(MOST_SHARES, powerOfTwoFrom(parts) / 2) && (outputs * shares) / THREADS < ENOUGH_GROUPS) shares *= 2
  return shares
}

/** Adds up the parts of the sums of outputs of all images beside each other, [group, part, row, column] in scratch 0, in their places. */
export function placedSums(shape: Pick<KernelShape, 'dtype'>, { groups, rows, columns, outputs }: { groups: number; rows: number; columns: number; outputs: number }, parts: number): Step {
  const type = storage(shape.dtype, 1)
  const all = groups * rows * columns
  const shares = sharesOf(all, parts)
  const wide = THREADS / shares
  const together = numbers(Math.min(TOGETHER, Math.ceil(parts / shares)))
  const wgsl = `${header([{ name: 'sums', type: 'f32' }, { name: 'out', type, write: true }], shape.dtype === 'f16')}
${shares > 1 ? `var<workgroup> memory: array<f32, ${THREADS}>;\n` : ''}${entry(`  let wanted = group * ${wide}u + lane % ${wide}u;
  let i = min(wanted, ${all - 1}u);
  let first = i / ${rows * columns}u * ${parts * rows * columns}u + i % ${rows * columns}u;
  var total = 0.0;
  for (var p = lane / ${wide}u; p < ${parts}u; p += ${shares * together.length}u) {
${together.map((u) => `    let part_${u} = sums[first + ${u === 0 ? 'p' : `min(p + ${u * shares}u, ${parts - 1}u)`} * ${rows * columns}u];`).join('\n')}
    total += ${together.map((u) => (u === 0 ? 'part_0' : `select(0.0, part_${u}, p + ${u * shares}u < ${parts}u)`)).join(' + ')};
  }
${shares > 1 ? `  memory[lane] = total;
  workgroupBarrier();
  if (lane >= ${wide}u) { return; }
${numbers(shares - 1).map((s) => `  total += memory[lane + ${(s + 1) * wide}u];`).join('\n')}
` : ''}  let column = i % ${columns}u;
  let row = i / ${columns}u;
  if (wanted < ${all}u) { out[(column / ${outputs}u * ${groups * rows}u + row) * ${outputs}u + column % ${outputs}u] = ${type}(total); }`)}`
  return step(wgsl, [{ scratch: 0 }, 'output'], [], Math.ceil(all / wide))
}
