import { entry, header, step, storage, THREADS, widthFor, working, type Width } from '../../wgsl/header'
import { FOLDS } from '../reduction/fold'
import { FoldSteps } from '../reduction/steps'
import { dimOf, type KernelShape, type Program } from '../types'
import { evenly } from './evenly'

/** Rows or columns of a product up to which tiles would stand nearly empty, and steps of k from which on threads share them. */
const FEW = 16
const LONG = 64
/** Outputs of a thread at most, and how many of the shorter side. */
const MOST_OUTPUTS = 32
const MOST_SHORT = 8
/** Outputs along the longer side where a thread takes several steps of k: longer runs of fewer rows are read faster. */
const MOST_LONG = 8
/** Blocks of outputs that leave no multiprocessor idle: the longer side is cut until there are as many. */
const ENOUGH_BLOCKS = 132
/** Elements of an operand's row that a thread reads together, where k is long enough. */
const AT_ONCE = 4
/** Workgroups that fill a device, and steps of k that are worth a workgroup and the step that joins it. */
const FILLED = 1024
const LEAST_STEPS = 2048
/** Sums that a workgroup joins at a time. */
const JOINED = 8

/**
 * A product of few rows or columns and a long k: every thread takes every so many steps of k for a block of outputs. A longer side must have
 * its elements along k side by side, so that neighbouring threads read neighbours. Undefined for others.
 */
export function longProduct(shape: KernelShape): Program | undefined {
  const [batch, m, n, k, transA, transB] = [0, 1, 2, 3, 4, 5].map((i) => dimOf(shape, i)) as [number, number, number, number, number, number]
  if (k <= LONG || Math.min(m, n) > FEW || (m > FEW && transA === 1) || (n > FEW && transB === 0)) return undefined
  const short = evenly(Math.min(m, n), MOST_SHORT)
  const several = k >= AT_ONCE * THREADS
  let most = Math.min(several ? MOST_LONG : MOST_OUTPUTS, Math.floor(MOST_OUTPUTS / short.size))
  while (most > 1 && k < 2 * LEAST_STEPS && batch * short.count * Math.ceil(Math.max(m, n) / most) < ENOUGH_BLOCKS) most = Math.floor(most / 2)
  const long = evenly(Math.max(m, n), most)
  const [alongA, alongB] = [transA === 0 || m === 1, transB === 1 || n === 1]
  const width: Width = several && alongA && alongB ? widthFor(k) : 1
  const steps = Array.from({ length: several && width === 1 ? AT_ONCE : 1 }, (_, u) => u)
  const [down, across] = m <= n ? [short, long] : [long, short]
  const blocks = down.count * across.count
  const wanted = Math.max(1, Math.min(Math.floor(FILLED / (batch * blocks)), Math.floor(k / LEAST_STEPS)))
  const chunk = Math.ceil(k / wanted / THREADS / AT_ONCE) * THREADS * AT_ONCE
  const parts = Math.ceil(k / chunk)
  const dtype = shape.dtype === 'f16' ? 'f16' : 'f32'
  const [type, vector] = [storage(dtype, width), working(width)]
  const result = parts > 1 ? 'f32' : storage(dtype, 1)
  const rows = Array.from({ length: down.size }, (_, r) => r)
  const columns = Array.from({ length: across.size }, (_, c) => c)
  const outputs = rows.flatMap((r) => columns.map((c) => `sum_${r}_${c}`))
  const rounds = Array.from({ length: Math.ceil(outputs.length / JOINED) }, (_, i) => outputs.slice(i * JOINED, (i + 1) * JOINED))
  // Steps behind the last one are read again and dropped.
  const loaded = (u: number, value: string) => (u === 0 ? value : `select(0.0, ${value}, l + ${u * THREADS}u < end)`)
  const length = width === 4 ? '(k / 4u)' : 'k'
  const wgsl = `${header([{ name: 'a', type }, { name: 'b', type }, { name: 'out', type: result, write: true }], dtype === 'f16')}
var<workgroup> memory: array<f32, ${JOINED * THREADS}>;
${entry(`  let m = dim(0u);
  let n = dim(1u);
  let k = dim(2u);
  let block = group % dim(4u);
  let part = group / dim(4u) % dim(5u);
  let product = group / dim(4u) / dim(5u);
  if (product >= dim(6u)) { return; }
  // Neighbouring workgroups share the longer side.
  let first_row = block ${m <= n ? '%' : '/'} dim(7u) * ${down.size}u;
  let first_column = block ${m <= n ? '/' : '%'} dim(7u) * ${across.size}u;
${rows.map((r) => `  let row_${r} = min(first_row + ${r}u, m - 1u);`).join('\n')}
${columns.map((c) => `  let column_${c} = min(first_column + ${c}u, n - 1u);`).join('\n')}
${outputs.map((name) => `  var ${name} = 0.0;`).join('\n')}
  let end = min(k, (part + 1u) * dim(3u));
  for (var l = part * dim(3u)${width === 4 ? ' / 4u' : ''} + lane; l < ${width === 4 ? 'end / 4u' : 'end'}; l += ${THREADS * steps.length}u) {
${steps.map((u) => `    let l_${u} = ${u === 0 ? 'l' : `min(l + ${u * THREADS}u, end - 1u)`};`).join('\n')}
${steps.map((u) => rows.map((r) => `    let a_${u}_${r} = ${loaded(u, `${vector}(a[${alongA ? `(product * m + row_${r}) * ${length} + l_${u}` : `(product * k + l_${u}) * m + row_${r}`}])`)};`).join('\n')).join('\n')}
${steps.map((u) => columns.map((c) => `    let b_${u}_${c} = ${vector}(b[${alongB ? `(product * n + column_${c}) * ${length} + l_${u}` : `(product * k + l_${u}) * n + column_${c}`}]);`).join('\n')).join('\n')}
${steps.map((u) => rows.flatMap((r) => columns.map((c) => `    sum_${r}_${c} ${width === 4 ? `+= dot(a_${u}_${r}, b_${u}_${c})` : `= fma(a_${u}_${r}, b_${u}_${c}, sum_${r}_${c})`};`)).join('\n')).join('\n')}
  }
${rounds.map((names, round) => `${names.map((name, j) => `  memory[${j * THREADS}u + lane] = ${name};`).join('\n')}
  workgroupBarrier();
  {
    var joined = 0.0;
    for (var i = 0u; i < ${JOINED}u; i++) { joined += memory[lane / 32u * ${THREADS}u + lane % 32u + i * 32u]; }
    workgroupBarrier();
    memory[lane] = joined;
  }
  workgroupBarrier();
  if (lane < ${names.length}u) {
    let row = first_row + (${round * JOINED}u + lane) / ${across.size}u;
    let column = first_column + (${round * JOINED}u + lane) % ${across.size}u;
    var total = 0.0;
    for (var i = 0u; i < 32u; i++) { total += memory[lane * 32u + i]; }
    if (row < m && column < n) { out[((product * m + row) * n + column) * dim(5u) + part] = ${result}(total); }
  }
  workgroupBarrier();`).join('\n')}`)}`
  const first = step(wgsl, [{ input: 0 }, { input: 1 }, parts > 1 ? { scratch: 0 } : 'output'], [m, n, k, chunk, blocks, parts, batch, short.count], batch * parts * blocks)
  if (parts === 1) return { scratchBytes: [], steps: [first] }
  const sum = new FoldSteps(shape, FOLDS['sum']!, dtype, parts, 'output', 1)
  sum.rows({ from: { scratch: 0 }, type: 'f32' }, batch * m * n, parts, true)
  return { scratchBytes: [4 * batch * m * n * parts, ...sum.scratchBytes], steps: [first, ...sum.steps] }
}
