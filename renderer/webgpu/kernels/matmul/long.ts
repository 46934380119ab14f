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
/** Rows or columns from which on tiles fill a device, and steps of k up to which threads that share them join more than they multiply. */
const MANY_LONG = { outputs: 2 ** 16, steps: 320 }
/** Blocks of outputs that leave no multiprocessor idle: the longer side is cut until there are as many. */
const ENOUGH_BLOCKS = 132
/** Elements of an operand's row that a thread reads together, where k is long enough. */
const AT_ONCE = 4
/** Workgroups that fill a device, and steps of k that are worth a workgroup and the step that joins it. */
const FILLED = 1024
const LEAST_STEPS = 2048
/** Sums of a thread that a workgroup joins at a time: as many as its memory holds where several blocks have one. */
const JOINED = 8
const JOINED_OF_SEVERAL = 16
/** Threads that share a block of outputs where k leaves most of a workgroup nothing to add, and vectors along k that each takes. */
const SHARING = [8, 16, 32] as const
const MOST_VECTORS = 8
/** Steps of k that such a thread loads together. */
const AT_ONCE_OF_SEVERAL = 2

/** Threads that share each of so many blocks of outputs with a k of so many vectors: a workgroup, or fewer where that leaves enough workgroups. */
export function sharingOf(blocks: number, vectors: number): number {
  const enough = SHARING.filter((lanes) => blocks * lanes >= ENOUGH_BLOCKS * THREADS)
  return enough.find((lanes) => vectors <= MOST_VECTORS * lanes) ?? enough.at(-1) ?? THREADS
}

/**
 * A product of few rows or columns and a long k: every thread takes every so many steps of k for a block of outputs, of which a workgroup has
 * several where k is short for it. A longer side must have its elements along k side by side, so that neighbouring threads read neighbours.
 * Undefined for others.
 */
export function longProduct(shape: KernelShape): Program | undefined {
  const [batch, m, n, k, transA, transB] = [0, 1, 2, 3, 4, 5].map((i) => dimOf(shape, i)) as [number, number, number, number, number, number]
  if (k <= LONG || Math.min(m, n) > FEW || (m > FEW && transA === 1) || (n > FEW && transB === 0)) return undefined
  const short = evenly(Math.min(m, n), MOST_SHORT)
  const several = k >= AT_ONCE * THREADS
  const [alongA, alongB] = [transA === 0 || m === 1, transB === 1 || n === 1]
  // Tiles read the longer operand once, not once for each of several blocks of the shorter one.
  if (short.count > 1 && k <= MANY_LONG.steps && !(alongA && alongB) && batch * Math.max(m, n) >= MANY_LONG.outputs) return undefined
  const whole: Width = alongA && alongB ? widthFor(k) : 1
  const cut = (limit: number) => {
    let most = Math.min(limit, Math.floor(MOST_OUTPUTS / short.size))
    while (most > 1 && k < 2 * LEAST_STEPS && batch * short.count * Math.ceil(Math.max(m, n) / most) < ENOUGH_BLOCKS) most = Math.floor(most / 2)
    return evenly(Math.max(m, n), most)
  }
  const sharing = (limit: number) => {
    const few = cut(limit)
    return { few, lanes: several ? THREADS : sharingOf(batch * short.count * few.count, k / whole) }
  }
  const { few, lanes } = [MOST_LONG, MOST_LONG / 2, MOST_LONG / 4].map(sharing).find((one) => one.lanes < THREADS) ?? sharing(MOST_LONG)
  const perGroup = THREADS / lanes
  const long = several || perGroup > 1 ? few : cut(MOST_OUTPUTS)
  const [down, across] = m <= n ? [short, long] : [long, short]
  const blocks = down.count * across.count
  const width = several || perGroup > 1 ? whole : 1
  const steps = Array.from({ length: width > 1 ? 1 : several ? AT_ONCE : perGroup > 1 ? AT_ONCE_OF_SEVERAL : 1 }, (_, u) => u)
  const beside = Math.ceil(blocks / perGroup)
  const wanted = Math.max(1, Math.min(Math.floor(FILLED / (batch * blocks)), Math.floor(k / LEAST_STEPS)))
  const chunk = Math.ceil(k / wanted / THREADS / AT_ONCE) * THREADS * AT_ONCE
  const parts = Math.ceil(k / chunk)
  const dtype = shape.dtype === 'f16' ? 'f16' : 'f32'
  const [type, vector] = [storage(dtype, width), working(width)]
  const result = parts > 1 ? 'f32' : storage(dtype, 1)
  const rows = Array.from({ length: down.size }, (_, r) => r)
  const columns = Array.from({ length: across.size }, (_, c) => c)
  const outputs = rows.flatMap((r) => columns.map((c) => `sum_${r}_${c}`))
  const atOnce = perGroup > 1 ? JOINED_OF_SEVERAL : JOINED
  const rounds = Array.from({ length: Math.ceil(outputs.length / atOnce) }, (_, i) => outputs.slice(i * atOnce, (i + 1) * atOnce))
  // Steps behind the last one are read again and dropped.
  const loaded = (u: number, value: string) => (u === 0 ? value : `select(0.0, ${value}, l + ${u * lanes}u < end)`)
  const length = width === 4 ? '(k / 4u)' : 'k'
  const written = (index: string, row: string, column: string) => `    let row = ${row} + (${index}) / ${across.size}u;
    let column = ${column} + (${index}) % ${across.size}u;
    if (row < m && column < n) { out[((product * m + row) * n + column) * dim(5u) + part] = ${result}(total); }`
  // Neighbouring workgroups, and blocks, share the longer side.
  const firstRow = (block: string) => `${block} ${m <= n ? '%' : '/'} dim(7u) * ${down.size}u`
  const firstColumn = (block: string) => `${block} ${m <= n ? '/' : '%'} dim(7u) * ${across.size}u`
  const ofOne = (count: number, round: number) => `  {
    var joined = 0.0;
    for (var i = 0u; i < ${JOINED}u; i++) { joined += memory[lane / 32u * ${THREADS}u + lane % 32u + i * 32u]; }
    workgroupBarrier();
    memory[lane] = joined;
  }
  workgroupBarrier();
  if (lane < ${count}u) {
    var total = 0.0;
    for (var i = 0u; i < 32u; i++) { total += memory[lane * 32u + i]; }
${written(`${round * JOINED}u + lane`, 'first_row', 'first_column')}
  }`
  // Each thread has one sum of a block, and begins with another of its parts than its neighbours: these meet different banks.
  const ofSeveral = (count: number, round: number) => `  for (var e = lane; e < ${count * perGroup}u; e += ${THREADS}u) {
    var total = 0.0;
    for (var i = 0u; i < ${lanes}u; i++) { total += memory[e % ${count}u * ${THREADS}u + e / ${count}u * ${lanes}u + (i + e) % ${lanes}u]; }
    let summed = group % dim(4u) * ${perGroup}u + e / ${count}u;
${written(`${round * atOnce}u + e % ${count}u`, firstRow('summed'), firstColumn('summed'))}
  }`
  const wgsl = `${header([{ name: 'a', type }, { name: 'b', type }, { name: 'out', type: result, write: true }], dtype === 'f16')}
var<workgroup> memory: array<f32, ${atOnce * THREADS}>;
${entry(`  let m = dim(0u);
  let n = dim(1u);
  let k = dim(2u);
  let block = group % dim(4u)${perGroup > 1 ? ` * ${perGroup}u + lane / ${lanes}u` : ''};
  let part = group / dim(4u) % dim(5u);
  let product = group / dim(4u) / dim(5u);
  if (product >= dim(6u)) { return; }
  let first_row = ${firstRow('block')};
  let first_column = ${firstColumn('block')};
${rows.map((r) => `  let row_${r} = min(first_row + ${r}u, m - 1u);`).join('\n')}
${columns.map((c) => `  let column_${c} = min(first_column + ${c}u, n - 1u);`).join('\n')}
${outputs.map((name) => `  var ${name} = 0.0;`).join('\n')}
  let end = min(k, (part + 1u) * dim(3u));
  for (var l = part * dim(3u)${width === 4 ? ' / 4u' : ''} + lane${perGroup > 1 ? ` % ${lanes}u` : ''}; l < ${width === 4 ? 'end / 4u' : 'end'}; l += ${lanes * steps.length}u) {
${steps.map((u) => `    let l_${u} = ${u === 0 ? 'l' : `min(l + ${u * lanes}u, end - 1u)`};`).join('\n')}
${steps.map((u) => rows.map((r) => `    let a_${u}_${r} = ${loaded(u, `${vector}(a[${alongA ? `(product * m + row_${r}) * ${length} + l_${u}` : `(product * k + l_${u}) * m + row_${r}`}])`)};`).join('\n')).join('\n')}
${steps.map((u) => columns.map((c) => `    let b_${u}_${c} = ${vector}(b[${alongB ? `(product * n + column_${c}) * ${length} + l_${u}` : `(product * k + l_${u}) * n + column_${c}`}]);`).join('\n')).join('\n')}
${steps.map((u) => rows.flatMap((r) => columns.map((c) => `    sum_${r}_${c} ${width === 4 ? `+= dot(a_${u}_${r}, b_${u}_${c})` : `= fma(a_${u}_${r}, b_${u}_${c}, sum_${r}_${c})`};`)).join('\n')).join('\n')}
  }
${rounds.map((names, round) => `${names.map((name, j) => `  memory[${j * THREADS}u + lane] = ${name};`).join('\n')}
  workgroupBarrier();
${perGroup > 1 ? ofSeveral(names.length, round) : ofOne(names.length, round)}
  workgroupBarrier();`).join('\n')}`)}`
  const first = step(wgsl, [{ input: 0 }, { input: 1 }, parts > 1 ? { scratch: 0 } : 'output'], [m, n, k, chunk, beside, parts, batch, short.count], batch * parts * beside)
  if (parts === 1) return { scratchBytes: [], steps: [first] }
  const sum = new FoldSteps(shape, FOLDS['sum']!, dtype, parts, 'output', 1)
  sum.rows({ from: { scratch: 0 }, type: 'f32' }, batch * m * n, parts, true)
  return { scratchBytes: [4 * batch * m * n * parts, ...sum.scratchBytes], steps: [first, ...sum.steps] }
}
