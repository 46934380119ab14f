import { entry, header, step, storage, THREADS, widthFor } from '../../wgsl/header'
import { evenly } from './evenly'
import { joinedParts } from './joined'
import { dimOf, type KernelShape, type Program } from '../types'

/** Rows and columns at most. */
const MOST_SIDE = 32
/** Rows and columns of outputs of a thread; blocks of these from which on threads of one block are few enough to be joined one after the other, and for a very long k. */
const BLOCK = 4
const LEAST_BLOCKS = { usual: 9, long: 6 }
/** Steps of k that are worth it for fewer blocks; where threads that share k would have few outputs each otherwise (long.ts), of few products and of many; and where tiles would stand nearly empty. */
const LONG = { blocks: 2 ** 14, few: 2048, many: 1024, tiles: 700 }
const FEW_SIDE = 16
const MANY_PRODUCTS = 132
/** Workgroups that fill a device, and steps of k that a thread has on their way together. */
const ENOUGH_GROUPS = 264
const TOGETHER = 4
/** Sides of products that several workgroups share: steps of k, and multiply-adds up to which it takes longer until tiles start than until their threads have read as often as they multiply. */
const SOME_STEPS = { from: 65, to: 1024 }
const LITTLE = { steps: 240, short: 3 * 2 ** 23, long: 7 * 2 ** 23 }
const FEWEST_TILES = 66
const BLOCKS_OF_TILE = 4

/** How a small product is shared. */
export interface OuterPlan {
  /** Blocks of 4x4 outputs of a workgroup below and beside each other, and threads that share the steps of k of each. */
  down: number
  across: number
  shares: number
  /** Workgroups below and beside each other. */
  tilesM: number
  tilesN: number
  /** Parts along k, each of a workgroup, and steps of each. */
  parts: number
  chunk: number
}

/** The plan of `batch` products [m, n] of k steps. Undefined where others are faster: large ones, and those of long k unless both operands have their elements side by side across k. */
export function planOuter(batch: number, m: number, n: number, k: number, transA: boolean, transB: boolean): OuterPlan | undefined {
  const [down, across] = [Math.ceil(m / BLOCK), Math.ceil(n / BLOCK)]
  const blocksOf = (length: number) => evenly(length, BLOCKS_OF_TILE)
  const isSmall = Math.min(m, n) > FEW_SIDE && k >= SOME_STEPS.from && k <= SOME_STEPS.to && batch * m * n * k <= (k < LITTLE.steps ? LITTLE.short : LITTLE.long) && batch * blocksOf(down).count * blocksOf(across).count >= FEWEST_TILES
  const least = down * across < LEAST_BLOCKS.usual ? LONG.blocks : Math.max(m, n) > FEW_SIDE ? LONG.tiles : batch >= MANY_PRODUCTS ? LONG.many : LONG.few
  const isOne = Math.max(m, n) <= MOST_SIDE && down * across >= LEAST_BLOCKS.long && k >= least && transA && !transB
  if (!isOne && !isSmall) return undefined
  const tile = isOne ? { down, across } : { down: blocksOf(down).size, across: blocksOf(across).size }
  const shares = Math.floor(THREADS / (tile.down * tile.across))
  const [tilesM, tilesN] = [Math.ceil(down / tile.down), Math.ceil(across / tile.across)]
  const wanted = isOne ? Math.max(1, Math.min(Math.floor(ENOUGH_GROUPS / batch), Math.floor(k / (shares * TOGETHER)))) : 1
  const chunk = Math.ceil(k / wanted)
  return { ...tile, shares, tilesM, tilesN, parts: Math.ceil(k / chunk), chunk }
}

const SIDE = [0, 1, 2, 3]

/** A small product: each thread reads four elements of both operands at a time and adds up a block of 4x4 outputs. A workgroup's threads share k. */
export function outerProduct(shape: KernelShape): Program | undefined {
  const [batch, m, n, k, transA, transB] = [0, 1, 2, 3, 4, 5].map((i) => dimOf(shape, i)) as [number, number, number, number, number, number]
  const plan = planOuter(batch, m, n, k, transA === 1, transB === 1)
  if (!plan) return undefined
  const { down, across, shares, tilesM, tilesN, parts, chunk } = plan
  const dtype = shape.dtype === 'f16' ? 'f16' : 'f32'
  // Rows along k are read element by element: neighbours have neighbouring rows.
  const [wa, wb] = [transA === 1 ? widthFor(m) : 1, transB === 1 ? 1 : widthFor(n)]
  const blocks = down * across
  const split = parts > 1
  const steps = Array.from({ length: TOGETHER }, (_, u) => u)
  // Vectors along k: four steps at a time of four rows, or of four steps across.
  const byVectors = k % 4 === 0 && parts === 1 && (transA === 0 || transB === 1)
  const four = (name: string, width: number, extent: string, alongK: boolean) =>
    SIDE.map((j) => `let ${name}_${j} = ${alongK ? `vec4<f32>(${name}[(product * ${extent} + at_${name}_${j}) * ${k / 4}u + l])` : width === 4 ? `vec4<f32>(${name}[((product * k + 4u * l + ${j}u) * ${extent} + first_${name}) / 4u])` : `vec4<f32>(${SIDE.map((i) => `f32(${name}[(product * k + 4u * l + ${j}u) * ${extent} + at_${name}_${i}])`).join(', ')})`};`).join(' ')
  const aOf = (i: number, l: number) => (transA === 0 ? `a_${i}[${l}]` : `a_${l}[${i}]`)
  const bOf = (l: number) => (transB === 1 ? `vec4<f32>(${SIDE.map((j) => `b_${j}[${l}]`).join(', ')})` : `b_${l}`)
  const vectorLoop = `  let end = select(0u, ${k / 4}u, share < ${shares}u);
  for (var l = share; l < end; l += ${shares}u) {
    ${four('a', wa, 'm', transA === 0)}
    ${four('b', wb, 'n', transB === 1)}
${SIDE.map((l) => `    { let b = ${bOf(l)}; ${SIDE.map((i) => `sum_${i} = fma(vec4<f32>(${aOf(i, l)}), b, sum_${i});`).join(' ')} }`).join('\n')}
  }`
  const types = byVectors ? [transA === 0 ? 4 : wa, transB === 1 ? 4 : wb] as const : [wa, wb] as const
  const load = (name: string, width: number, extent: string, alongK: boolean, u: number) =>
    width === 4 ? `vec4<f32>(${name}[((product * k + l_${u}) * ${extent} + first_${name}) / 4u])` : `vec4<f32>(${SIDE.map((j) => `f32(${name}[${alongK ? `(product * ${extent} + at_${name}_${j}) * k + l_${u}` : `(product * k + l_${u}) * ${extent} + at_${name}_${j}`}])`).join(', ')})`
  const ofA = (u: number) => load('a', wa, 'm', transA === 0, u)
  const stepLoop = `  let end = select(0u, min(k, (part + 1u) * dim(3u)), share < ${shares}u);
  for (var l = part * dim(3u) + share; l < end; l += ${shares * TOGETHER}u) {
${steps.map((u) => `    let l_${u} = ${u === 0 ? 'l' : `min(l + ${u * shares}u, end - 1u)`};`).join('\n')}
${steps.map((u) => `    let a_${u} = ${u === 0 ? ofA(u) : `select(vec4<f32>(0.0), ${ofA(u)}, l + ${u * shares}u < end)`}; let b_${u} = ${load('b', wb, 'n', transB === 1, u)};`).join('\n')}
${steps.map((u) => SIDE.map((i) => `    sum_${i} = fma(vec4<f32>(a_${u}[${i}]), b_${u}, sum_${i});`).join('\n')).join('\n')}
  }`
  const result = split ? 'f32' : dtype
  const wgsl = `${header([{ name: 'a', type: storage(dtype, types[0]) }, { name: 'b', type: storage(dtype, types[1]) }, { name: 'out', type: storage(result, 1), write: true }], dtype === 'f16')}
var<workgroup> memory: array<vec4<f32>, ${4 * THREADS}>;
${entry(`  let m = dim(0u);
  let n = dim(1u);
  let k = dim(2u);
  let part = group % dim(4u);
  let tile = group / dim(4u);
  let product = tile / ${tilesM * tilesN}u;
  if (product >= dim(5u)) { return; }
  let first_row = tile / ${tilesN}u % ${tilesM}u * ${4 * down}u;
  let first_column = tile % ${tilesN}u * ${4 * across}u;
  let block = lane % ${blocks}u;
  let share = lane / ${blocks}u;
  let first_a = min(first_row + block / ${across}u * 4u, m - 1u);
  let first_b = min(first_column + block % ${across}u * 4u, n - 1u);
${(['a', 'b'] as const).flatMap((name) => SIDE.map((j) => `  let at_${name}_${j} = min(first_${name} + ${j}u, ${name === 'a' ? 'm' : 'n'} - 1u);`)).join('\n')}
${SIDE.map((i) => `  var sum_${i} = vec4<f32>(0.0);`).join('\n')}
${byVectors ? vectorLoop : stepLoop}
${SIDE.map((i) => `  memory[${i * THREADS}u + lane] = sum_${i};`).join('\n')}
  workgroupBarrier();
  for (var e = lane; e < ${4 * blocks}u; e += ${THREADS}u) {
    let own = e % ${blocks}u;
    let at = e / ${blocks}u;
    var total = vec4<f32>(0.0);
    for (var s = 0u; s < ${shares}u; s++) { total += memory[at * ${THREADS}u + s * ${blocks}u + own]; }
    let row = first_row + own / ${across}u * 4u + at;
    let column = first_column + own % ${across}u * 4u;
    if (row < m) {
${SIDE.map((j) => `      if (column + ${j}u < n) { out[((product * dim(4u) + part) * m + row) * n + column + ${j}u] = ${storage(result, 1)}(total[${j}]); }`).join('\n')}
    }
  }`)}`
  const first = step(wgsl, [{ input: 0 }, { input: 1 }, split ? { scratch: 0 } : 'output'], [m, n, k, chunk, parts, batch], batch * tilesM * tilesN * parts)
  return split ? joinedParts(first, shape, batch, m * n, parts) : { scratchBytes: [], steps: [first] }
}
