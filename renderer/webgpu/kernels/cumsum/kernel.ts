import { entry, header, step, storage, THREADS, widthFor, working, type Width } from '../../wgsl/header'
import { mapped } from '../../wgsl/mapped'
import { EXCHANGE, powerOfTwoFrom, reduction, sumOf } from '../../wgsl/rows'
import { elementwise } from '../../wgsl/elementwise'
import { dimOf, type Kernel, type Program } from '../types'
import { blockSums, planBlocks } from './blocks'
import { stagedSums } from './staged'

/** Vectors of a row, by width, beyond which it is added up in blocks: shorter ones of whole vectors take no longer by runs. */
const BLOCKS_FROM = { 1: 512, 4: 4096 } as const

/** A row of one element is its own sum. */
const copied = elementwise({ inputs: 1, expression: 'a', raw: true })

/** Runs of THREADS vectors that a workgroup adds up together: one component of a vec4 for each. */
const RUNS = 4
/** Rows up to this length take a thread each: of no whole vectors shorter ones, whose threads read apart from each other. */
const SHORT = 32
const SHORT_OF_SINGLES = 8
/** Workgroups that fill any device known here. */
const ENOUGH_GROUPS = 1024
/** Runs of all threads that one workgroup takes before others would help: they would need a second dispatch. */
const ALONE = 4
/** Threads whose sums one of them adds up. */
const SIDE = 16

/** Of each of four runs the sum of the threads in front of each one, and of all, among `lanes` neighbours: groups of SIDE threads first, then those of the groups. */
const scanText = (lanes: number) => `var<workgroup> sums: array<vec4<f32>, ${THREADS + SIDE}>;
var<workgroup> tops: array<vec4<f32>, ${THREADS / SIDE}>;
var<workgroup> fronts: array<Scanned, ${THREADS / SIDE}>;
struct Scanned { before: vec4<f32>, all: vec4<f32> }
fn scan(value: vec4<f32>, lane: u32) -> Scanned {
  sums[lane + lane / ${SIDE}u] = value;
  workgroupBarrier();
  if (lane < ${THREADS / SIDE}u) {
    var sum = vec4<f32>(0.0);
    for (var i = 0u; i < ${SIDE}u; i++) {
      let at = lane * ${SIDE + 1}u + i;
      let one = sums[at];
      sums[at] = sum;
      sum += one;
    }
    tops[lane] = sum;
  }
  workgroupBarrier();
  // A few threads for all, not each for itself.
  if (lane < ${THREADS / SIDE}u) {
    var front = Scanned(vec4<f32>(0.0), vec4<f32>(0.0));
    let own = lane / ${lanes / SIDE}u * ${lanes / SIDE}u;
    for (var g = own; g < own + ${lanes / SIDE}u; g++) {
      if (g == lane) { front.before = front.all; }
      front.all += tops[g];
    }
    fronts[lane] = front;
  }
  workgroupBarrier();
  let front = fronts[lane / ${SIDE}u];
  return Scanned(sums[lane + lane / ${SIDE}u] + front.before, front.all);
}
`

/** A part of a row: rows, vectors of a row, parts of a row, and their length in vectors are dims 0 to 3. */
const PLACE = `  let row = group / dim(2u);
  let part = group % dim(2u);
  let live = row < dim(0u);
  let base = row * dim(1u);
  let begin = part * dim(3u);
  let end = select(0u, min(begin + dim(3u), dim(1u)), live);`

/** The sum of a part, for the parts behind it. */
const totals = (dtype: 'f32' | 'f16', width: Width) => `${header([{ name: 'x', type: storage(dtype, width) }, { name: 'totals', type: 'f32', write: true }], dtype === 'f16')}${EXCHANGE}${reduction('sum', THREADS, (a, b) => `${a} + ${b}`)}
${entry(`${PLACE}
  var sum = ${working(width)}(0.0);
  for (var i = begin + lane; i < end; i += ${THREADS}u) { sum += ${working(width)}(x[base + i]); }
  let all = reduce_sum(${sumOf('sum', width)}, lane);
  if (live && lane == 0u) { totals[group] = all; }`)}`

const SIDES = ['x', 'y', 'z', 'w'].slice(0, RUNS)

/** Vectors summed up within themselves, and the sums of all of them. */
const within = (width: Width) => `${width === 4 ? SIDES.map((_, q) => `    v${q}.y += v${q}.x; v${q}.z += v${q}.y; v${q}.w += v${q}.z;`).join('\n') : ''}
    let own = vec4<f32>(${SIDES.map((_, q) => (width === 4 ? `v${q}.w` : `v${q}`)).join(', ')});`

/** Vector `q` of a thread from `first` on, 0 behind the end: what is read there is dropped. */
const load = (dtype: 'f32' | 'f16', width: Width, q: number, first: string) => `select(${working(width)}(0.0), ${working(width)}(x[base + min(${first} + ${q * THREADS}u, max(end, 1u) - 1u)]), ${first} + ${q * THREADS}u < end);`

/** The running sums of a part, RUNS times THREADS vectors at a time. */
const sums = (dtype: 'f32' | 'f16', width: Width, split: boolean) => `${header([{ name: 'x', type: storage(dtype, width) }, ...(split ? [{ name: 'totals', type: 'f32' }] : []), { name: 'out', type: storage(dtype, width), write: true }], dtype === 'f16')}${scanText(THREADS)}${split ? `${EXCHANGE}${reduction('sum', THREADS, (a, b) => `${a} + ${b}`)}` : ''}
${entry(`${PLACE}
  var carry = 0.0;
${split ? `  var earlier = 0.0;
  for (var i = lane; i < part; i += ${THREADS}u) { earlier += totals[row * dim(2u) + i]; }
  carry = reduce_sum(earlier, lane);` : ''}
${SIDES.map((_, q) => `  var next${q} = ${load(dtype, width, q, 'begin + lane')}`).join('\n')}
  for (var chunk = 0u; chunk < dim(3u); chunk += ${THREADS * RUNS}u) {
    let first = begin + chunk + lane;
${SIDES.map((_, q) => `    var v${q} = next${q};`).join('\n')}
    // The next ones are on their way while these are added up.
    let after = first + ${THREADS * RUNS}u;
${SIDES.map((_, q) => `    next${q} = ${load(dtype, width, q, 'after')}`).join('\n')}
${within(width)}
    let scanned = scan(own, lane);
${SIDES.map((side, q) => `    if (first + ${q * THREADS}u < end) { out[base + first + ${q * THREADS}u] = ${storage(dtype, width)}(v${q} + (carry + scanned.before.${side})); }\n    carry += scanned.all.${side};`).join('\n')}
  }`)}`

/** Rows of at most `runs` times `lanes` vectors, of which a workgroup has as many as its threads and runs have room for. dims: rows, vectors. */
const shortSums = (dtype: 'f32' | 'f16', width: Width, { lanes, runs, rowsPerGroup }: ShortPlan) => `${header([{ name: 'x', type: storage(dtype, width) }, { name: 'out', type: storage(dtype, width), write: true }], dtype === 'f16')}${scanText(lanes)}
${entry(`    let first = group * ${rowsPerGroup}u + lane / ${lanes}u;
${SIDES.map((_, q) => `    let i${q} = lane % ${lanes}u + ${(q % runs) * lanes}u; let row${q} = first + ${(Math.floor(q / runs) * THREADS) / lanes}u; let live${q} = row${q} < dim(0u) && i${q} < dim(1u); var v${q} = ${working(width)}(0.0); if (live${q}) { v${q} = ${working(width)}(x[row${q} * dim(1u) + i${q}]); }`).join('\n')}
${within(width)}
    let scanned = scan(own, lane);
${SIDES.map((side, q) => `    if (live${q}) { out[row${q} * dim(1u) + i${q}] = ${storage(dtype, width)}(v${q} + (${[...SIDES.slice(q - (q % runs), q).map((earlier) => `scanned.all.${earlier}`), `scanned.before.${side}`].join(' + ')})); }`).join('\n')}`)}`

/** How a workgroup takes short rows. */
interface ShortPlan {
  lanes: number
  /** Runs of all lanes that a row has. */
  runs: number
  rowsPerGroup: number
}

/** Undefined where a row has more vectors than a workgroup adds up together. */
export function planShort(vectors: number): ShortPlan | undefined {
  if (vectors > THREADS * RUNS) return undefined
  const lanes = Math.max(SIDE, Math.min(THREADS, powerOfTwoFrom(vectors)))
  const runs = powerOfTwoFrom(Math.ceil(vectors / lanes))
  return { lanes, runs, rowsPerGroup: ((THREADS / lanes) * RUNS) / runs }
}

/** Rows that fit the registers of a thread, which reads all of one before it writes any. */
function ofAThread(dtype: 'f32' | 'f16', rows: number, cols: number): Program {
  const width = widthFor(cols)
  const type = width === 4 ? 'own4' : 'own'
  const vectors = Array.from({ length: cols / width }, (_, v) => v)
  const summed = (v: number) => (width === 1 ? `v_${v} += carry; carry = v_${v};` : `v_${v}.y += v_${v}.x; v_${v}.z += v_${v}.y; v_${v}.w += v_${v}.z; v_${v} += carry; carry = v_${v}.w;`)
  return mapped({
    tensors: [{ name: 'x', at: { input: 0 }, type }, { name: 'out', at: 'output', type, write: true }],
    body: `${vectors.map((v) => `  var v_${v} = ${working(width)}(x[i * ${vectors.length}u + ${v}u]);`).join('\n')}
  var carry = 0.0;
${vectors.map((v) => `  ${summed(v)}`).join('\n')}
${vectors.map((v) => `  out[i * ${vectors.length}u + ${v}u] = ${type}(v_${v});`).join('\n')}`,
  }, dtype, rows)
}

const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [rows, cols] = [dimOf(shape, 0), dimOf(shape, 1)]
    const dtype = shape.dtype === 'f16' ? 'f16' : 'f32'
    if (cols === 1) return copied.build({ ...shape, dims: [rows] })
    const staged = stagedSums(dtype, rows, cols)
    if (staged) return staged
    if (cols <= SHORT && (cols % 4 === 0 || cols <= SHORT_OF_SINGLES)) return ofAThread(dtype, rows, cols)
    const width = widthFor(cols)
    const vectors = cols / width
    const short = planShort(vectors)
    const blocks = vectors > BLOCKS_FROM[width] ? planBlocks(rows, cols, shape) : undefined
    if (blocks) return blockSums(dtype, rows, blocks, shape)
    if (short) return { scratchBytes: [], steps: [step(shortSums(dtype, width, short), [{ input: 0 }, 'output'], [rows, vectors], Math.ceil(rows / short.rowsPerGroup))] }
    const parts = vectors <= ALONE * THREADS * RUNS ? 1 : Math.max(1, Math.min(Math.ceil(vectors / (THREADS * RUNS)), Math.floor(ENOUGH_GROUPS / rows)))
    const dims = [rows, vectors, parts, Math.ceil(vectors / parts)]
    if (parts === 1) return { scratchBytes: [], steps: [step(sums(dtype, width, false), [{ input: 0 }, 'output'], dims, rows)] }
    return {
      scratchBytes: [4 * rows * parts],
      steps: [step(totals(dtype, width), [{ input: 0 }, { scratch: 0 }], dims, rows * parts), step(sums(dtype, width, true), [{ input: 0 }, { scratch: 0 }, 'output'], dims, rows * parts)],
    }
  },
}
export default kernel
