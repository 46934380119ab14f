import { entry, header, step, storage, THREADS, widthFor, working, type Width } from '../../wgsl/header'
import { powerOfTwoFrom } from '../../wgsl/rows'
import { dimOf, type KernelShape, type Program } from '../types'
import { evenly } from './evenly'
import { joinedParts } from './joined'

/** Rows or columns of a product up to which tiles would stand nearly empty, and steps of k from which on threads share them. */
const FEW = 16
const SHORT = 64
/** Rows or columns of the short operand that a thread takes. */
const MOST_SHORT = 8
/** Vectors beside each other in a workgroup: fewer where workgroups of the widest would leave a device idle. */
const WIDTHS = [32, 16, 8] as const
const ENOUGH = 264
const FILLED = 1024
/** Steps of k up to which a thread is faster alone than with the step that joins parts, and those of a part at least. */
const ALONE = 32
const LEAST_STEPS = 16
/** Steps of each thread where workgroups are larger, at least and at most: longer products take more workgroups. */
const STEPS_OF_LARGE = { least: 8, most: 16 }
/** Rows or columns of the short operand from which on a thread takes several single elements of the long one. */
const LEAST_SPREAD = 2
/** f32 of sums that a workgroup joins at a time: as many as its memory holds. */
const JOINED = 4096
/** Workgroups up to which larger ones leave no more of a device idle, and f32 of a thread's sums that leave it registers there. */
const FEW_GROUPS = 132
const FEW_SUMS = 8
/** Threads of a workgroup beyond which each has too few registers for more than two steps of several rows or columns. */
const FEW_REGISTERS = 512

/** How a product of few rows or columns is shared. */
export interface AcrossPlan {
  /** Whether the right operand is the long one. */
  right: boolean
  /** Vectors beside each other, and rows of threads below, in a workgroup. */
  wide: number
  high: number
  /** Workgroups beside each other, groups of the short operand's rows or columns, and how many each has. */
  beside: number
  /** Elements of a thread: a vector, or as many that are `wide` apart where rows are no whole vectors and several rows or columns make that worth it. */
  width: Width
  isSpread: boolean
  count: number
  size: number
  /** Parts along k, and steps of each. */
  parts: number
  chunk: number
}

/** The plan of a product whose long operand has its elements side by side across k. Undefined for others. */
export function planAcross([batch, m, n, k, transA, transB]: readonly [number, number, number, number, number, number], most = THREADS): AcrossPlan | undefined {
  const right = m <= FEW && n > FEW && transB === 0
  if (k <= SHORT || !(right || (n <= FEW && m > FEW && transA === 1))) return undefined
  const [short, long] = right ? [m, n] : [n, m]
  const { count, size } = evenly(short, MOST_SHORT)
  const narrowest = WIDTHS.at(-1)!
  const spreadGroups = batch * count * Math.ceil(long / 4 / narrowest) * Math.max(1, Math.floor(k / (LEAST_STEPS * (THREADS / narrowest))))
  const isSpread = widthFor(long) === 1 && size >= LEAST_SPREAD && spreadGroups >= ENOUGH
  const width = isSpread ? 4 : widthFor(long)
  const vectors = Math.ceil(long / width)
  const groupsOf = (wide: number) => batch * count * Math.ceil(vectors / wide)
  const wide = WIDTHS.find((one) => groupsOf(one) >= ENOUGH) ?? WIDTHS.at(-1)!
  const isLarge = groupsOf(wide) <= FEW_GROUPS && size * width <= FEW_SUMS && k <= (STEPS_OF_LARGE.most * most) / wide
  const threads = isLarge ? Math.max(THREADS, Math.min(most, powerOfTwoFrom(Math.ceil(k / STEPS_OF_LARGE.least) * wide))) : THREADS
  const high = threads / wide
  const wanted = k <= ALONE * high ? 1 : Math.max(1, Math.min(Math.floor(FILLED / groupsOf(wide)), Math.floor(k / (LEAST_STEPS * high))))
  const chunk = Math.ceil(k / wanted)
  return { right, wide, high, beside: Math.ceil(vectors / wide), width, isSpread, count, size, parts: Math.ceil(k / chunk), chunk }
}

/** The operands, where they are not the first and the second input: `shared` says that all products have the same left one. */
export interface Operands {
  left: number
  right: number
  shared: boolean
}

/** A product of few rows or columns: neighbouring threads have neighbouring columns of the long operand, and rows of threads share k. */
export function acrossProduct(shape: KernelShape, { left, right, shared }: Operands = { left: 0, right: 1, shared: false }): Program | undefined {
  const dims = [0, 1, 2, 3, 4, 5].map((i) => dimOf(shape, i)) as [number, number, number, number, number, number]
  const plan = planAcross(dims, shape.threads)
  if (!plan) return undefined
  const [batch, m, n, k] = dims
  const { parts, beside, count, chunk } = plan
  const first = step(text(shape, dims, plan, shared), [{ input: plan.right ? left : right }, { input: plan.right ? right : left }, parts > 1 ? { scratch: 0 } : 'output'], [m, n, k, chunk, beside, count, parts, batch], batch * parts * beside * count)
  return parts === 1 ? { scratchBytes: [], steps: [first] } : joinedParts(first, shape, batch, m * n, parts)
}

function text({ dtype: given }: KernelShape, [, , , , transA, transB]: readonly [number, number, number, number, number, number], { right, wide, high, width, isSpread, size, parts }: AcrossPlan, shared: boolean): string {
  const dtype = given === 'f16' ? 'f16' : 'f32'
  const [single, type, vector] = [storage(dtype, 1), storage(dtype, isSpread ? 1 : width), working(width)]
  const extent = right ? 'n' : 'm'
  const apart = Array.from({ length: isSpread ? width : 0 }, (_, j) => j)
  const result = parts > 1 ? 'f32' : dtype
  const out = storage(result, right && !isSpread ? width : 1)
  const shorts = Array.from({ length: size }, (_, i) => i)
  const loads = Array.from({ length: size <= 2 ? 8 : wide * high > FEW_REGISTERS ? 2 : 4 }, (_, u) => u)
  const ofShort = shared ? '0u' : 'product'
  const shortAt = (i: number, l: string) =>
    right ? (transA === 1 ? `(${ofShort} * k + ${l}) * m + own_${i}` : `(${ofShort} * m + own_${i}) * k + ${l}`) : transB === 1 ? `(product * n + own_${i}) * k + ${l}` : `(product * k + ${l}) * n + own_${i}`
  const written = (i: number, sum: string) => {
    if (isSpread) return apart.map((j) => `if (column + ${j * wide}u < ${extent}) { out[${right ? `(base + own_${i}) * n + column + ${j * wide}u` : `(base + column + ${j * wide}u) * n + own_${i}`}] = ${out}(${sum}[${j}]); }`).join(' ')
    const at = right ? `(base + own_${i}) * vectors + column` : `(base + column * ${width}u) * n + own_${i}`
    if (right || width === 1) return `out[${at}] = ${out}(${sum});`
    return ['x', 'y', 'z', 'w'].map((side, j) => `out[${at} + ${j}u * n] = ${out}(${sum}.${side});`).join(' ')
  }
  const joins: string[] = []
  const threads = wide * high
  const joined = Math.min(size, JOINED / threads / width)
  for (let at = 0; at < size; at += joined) {
    const own = shorts.slice(at, at + joined)
    joins.push(`${own.map((i, j) => `  rows[${j * threads}u + lane] = sum_${i};`).join('\n')}\n  workgroupBarrier();`)
    for (let left = high; left > 1; ) {
      const by = left % 4 === 0 ? 4 : 2
      left /= by
      joins.push(`  if (lane < ${left * wide}u) {\n${own.map((_, j) => `    rows[${j * threads}u + lane] ${by === 4 ? `= (rows[${j * threads}u + lane] + rows[${j * threads + left * wide}u + lane]) + (rows[${j * threads + 2 * left * wide}u + lane] + rows[${j * threads + 3 * left * wide}u + lane])` : `+= rows[${j * threads + left * wide}u + lane]`};`).join('\n')}\n  }\n  workgroupBarrier();`)
    }
    joins.push(`  if (lane < ${wide}u && live) {\n${own.map((i, j) => `    if (first + ${i}u < ${right ? 'm' : 'n'}) { let done_${i} = rows[${j * threads}u + lane]; ${written(i, `done_${i}`)} }`).join('\n')}\n  }\n  workgroupBarrier();`)
  }
  return `${header([{ name: 'short', type: single }, { name: 'long', type }, { name: 'out', type: out, write: true }], dtype === 'f16')}
var<workgroup> rows: array<${vector}, ${joined * threads}>;
${entry(`  let m = dim(0u);
  let n = dim(1u);
  let k = dim(2u);
  let vectors = ${isSpread ? extent : `${extent} / ${width}u`};
  let column = group % dim(4u) * ${isSpread ? width * wide : wide}u + lane % ${wide}u;
  let first = group / dim(4u) % dim(5u) * ${size}u;
  let part = group / dim(4u) / dim(5u) % dim(6u);
  let product = group / dim(4u) / dim(5u) / dim(6u);
  if (product >= dim(7u)) { return; }
  let live = column < vectors;
  let base = (product * dim(6u) + part) * m;
  let end = min(k, (part + 1u) * dim(3u));
  let column_read = min(column, vectors - 1u);
${apart.map((j) => `  let column_${j} = min(column + ${j * wide}u, ${extent} - 1u);`).join('\n')}
${shorts.map((i) => `  let own_${i} = min(first + ${i}u, ${right ? 'm' : 'n'} - 1u);\n  var sum_${i} = ${vector}(0.0);`).join('\n')}
  for (var l = part * dim(3u) + lane / ${wide}u; l < end; l += ${high * loads.length}u) {
${loads.map((u) => `    let l_${u} = min(l + ${u * high}u, end - 1u); let w_${u} = ${vector}(${isSpread ? apart.map((j) => `f32(long[(product * k + l_${u}) * vectors + column_${j}])`).join(', ') : `long[(product * k + l_${u}) * vectors + column_read]`}); let in_${u} = l + ${u * high}u < end;`).join('\n')}
${loads.map((u) => shorts.map((i) => `    let s_${u}_${i} = select(0.0, f32(short[${shortAt(i, `l_${u}`)}]), in_${u});`).join('\n')).join('\n')}
${loads.map((u) => shorts.map((i) => `    sum_${i} += s_${u}_${i} * w_${u};`).join('\n')).join('\n')}
  }
${joins.join('\n')}`, threads)}`
}
