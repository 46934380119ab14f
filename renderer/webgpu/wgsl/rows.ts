import { THREADS, widthFor, type Width } from './header'

/** How the threads of a workgroup share rows: `lanes` threads work on one row, several rows fit into a workgroup. */
export interface RowPlan {
  width: Width
  /** Vectors of `width` elements in a row. */
  vectors: number
  /** A power of two. */
  lanes: number
  /** Threads of a workgroup: more than THREADS where a row has as many, fewer where rows are short. */
  threads: number
  rowsPerGroup: number
  groups: number
  /** Vectors each lane keeps in registers, so that the row is read once; undefined where a row is too long for that. */
  kept: number | undefined
}

const WANTED_PER_LANE = 4
/** 16 vectors of four f32 are 64 registers: more would cost occupancy. */
const MAX_KEPT = 16
/** Vectors of all rows up to which a thread takes one: they leave the device idle anyway, and the text is shorter. */
const FEW_VECTORS = 2 ** 16
/** Single elements of all rows from which on threads take more of them: enough on their way to fill memory's rate, and less to join. At least and at most so many a thread, and threads that write more than a sector of memory: fewer only for rows too short for so many. */
const MANY_SINGLES = 2 ** 19
const SINGLES_PER_LANE = { least: 5, most: 16 }
const LEAST_LANES = 16
const FEWEST_LANES = 8
/** Rows up to which large workgroups leave no more of a device idle than others. */
const FEW_ROWS = 264
/** f32 that the threads of a workgroup keep together: half the registers of a multiprocessor. */
const KEPT_OF_GROUP = 2 ** 15
/** Rows up to which several workgroups share a row rather than that threads keep more than MAX_KEPT of its elements. */
const FEWEST_ROWS = 16
/** Single elements of a row that a thread keeps at most: rows of no whole vectors. */
const MAX_SINGLES = 18

export interface RowLimits {
  /** Most vectors of each tensor that a thread keeps. */
  kept?: number | undefined
  /** Tensors of which it keeps a row. */
  tensors?: number
  /** Threads of the largest workgroup, and of the smallest. */
  threads?: number | undefined
  least?: number
  /** Whether a thread may take more elements of rows that are no whole vectors, where these are many. */
  singles?: boolean
  /** Whether rows are written, so that threads of one of few vectors take one each: neighbours write whole sectors of memory together. */
  written?: boolean
}

/** Plan for `rows` rows of `length` elements. Workgroups are larger than THREADS where rows are few, or fit their registers only so. */
export function planRows(rows: number, length: number, { kept = MAX_KEPT, tensors = 1, threads = THREADS, least = THREADS, singles = false, written = false }: RowLimits = {}): RowPlan {
  const width = widthFor(length)
  const vectors = length / width
  const few = rows * vectors <= FEW_VECTORS || (written && width === 4 && vectors <= WANTED_PER_LANE)
  const wanted = (singles && width === 1 && rows * vectors >= MANY_SINGLES ? lanesOfSingles(vectors) : undefined) ?? powerOfTwoFrom(few ? vectors : Math.ceil(vectors / WANTED_PER_LANE))
  const usual = Math.min(THREADS, wanted)
  const large = Math.min(threads, rows <= FEW_ROWS ? Math.max(THREADS, powerOfTwoFrom(Math.ceil(vectors / WANTED_PER_LANE))) : threads)
  const fits = (lanes: number) => Math.ceil(vectors / lanes) <= (lanes <= THREADS ? kept : Math.min(rows <= FEWEST_ROWS ? (width === 1 ? MAX_SINGLES : MAX_KEPT) : Infinity, Math.floor(KEPT_OF_GROUP / lanes / width / tensors)))
  const spread = large > THREADS && vectors > THREADS && fits(large) && (rows <= FEW_ROWS || !fits(usual))
  const lanes = spread ? large : usual
  const group = Math.max(least, lanes)
  const rowsPerGroup = group / lanes
  return { width, vectors, lanes, threads: group, rowsPerGroup, groups: Math.ceil(rows / rowsPerGroup), kept: fits(lanes) ? Math.ceil(vectors / lanes) : undefined }
}

/** Threads that share a row of single elements, so that as few of them as can be have one less; undefined where a row is too short or too long. */
function lanesOfSingles(length: number): number | undefined {
  const { least, most } = SINGLES_PER_LANE
  let best: { lanes: number; used: number } | undefined
  for (let lanes = LEAST_LANES; lanes <= THREADS; lanes *= 2) {
    const each = Math.ceil(length / lanes)
    const used = length / (lanes * each)
    if (each >= least && each <= most && used >= (best?.used ?? 0)) best = { lanes, used }
  }
  return best?.lanes ?? (length > (least - 1) * FEWEST_LANES && length <= LEAST_LANES * least ? FEWEST_LANES : undefined)
}

/** The smallest power of two that is at least `n`. */
export function powerOfTwoFrom(n: number): number {
  let power = 1
  while (power < n) power *= 2
  return power
}

/** Results of subgroups that each thread joins by itself; more would cost more than the barriers that they save. */
const MAX_JOINED = 16

/** Whether threads of `lanes` that share a row are combined by subgroups of at least `size` threads. */
const bySubgroups = (lanes: number, size: number | undefined): size is number => size !== undefined && lanes > 1 && lanes / size <= MAX_JOINED

/**
 * WGSL of `value` combined over neighbouring threads by shuffles, in place: over all `lanes` of a row, or those of the smallest
 * subgroup. Threads that are neighbours in the workgroup are so in a subgroup, which gpu/subgroups.ts makes sure of.
 */
export function shuffled(lanes: number, size: number, combine: (stride: string) => string): string {
  const lines: string[] = []
  for (let stride = 1; stride < Math.min(lanes, size); stride *= 2) lines.push(`  ${combine(`${stride}u`)}`)
  return lines.join('\n')
}

/** WGSL that makes the u32 `name` of each thread the sum of those of the threads up to it, among `size` neighbours of a subgroup. */
export function shuffledAhead(size: number, name: string): string {
  const lines: string[] = []
  for (let stride = 1; stride < size; stride *= 2) lines.push(`  { let other = subgroupShuffleUp(${name}, ${stride}u); ${name} += select(0u, other, lane % ${size}u >= ${stride}u); }`)
  return lines.join('\n')
}

/** What threads combine: a number, or two or three at once between the same barriers. */
type Reduced = 'f32' | 'u32' | 'vec2<f32>' | 'vec2<u32>' | 'vec3<f32>'

function subgroupReduction(name: string, lanes: number, size: number, combine: (a: string, b: string) => string, type: Reduced): string {
  const within = `  var joined = value;\n${shuffled(lanes, size, (stride) => `joined = ${combine('joined', `subgroupShuffleXor(joined, ${stride})`)};`)}`
  if (lanes <= size) return `fn reduce_${name}(value: ${type}, lane: u32) -> ${type} {\n${within}\n  return joined;\n}\n`
  return `fn reduce_${name}(value: ${type}, lane: u32) -> ${type} {
${within}
  if (lane % ${size}u == 0u) { exchange[lane / ${size}u] = joined; }
  workgroupBarrier();
  let first = (lane - lane % ${lanes}u) / ${size}u;
  var result = exchange[first];
${Array.from({ length: lanes / size - 1 }, (_, i) => `  result = ${combine('result', `exchange[first + ${i + 1}u]`)};`).join('\n')}
  workgroupBarrier();
  return result;
}
`
}

/**
 * WGSL `reduce_<name>(value, lane)`: combines the values of the `lanes` neighbouring threads that share a row and gives
 * every one of them the result. Contains barriers, or with `subgroups` (threads of the smallest one) shuffles: call it
 * where all threads of the workgroup pass.
 */
export function reduction(name: string, lanes: number, combine: (a: string, b: string) => string, subgroups?: number, type: Reduced = 'f32'): string {
  if (bySubgroups(lanes, subgroups)) return subgroupReduction(name, lanes, subgroups, combine, type)
  if (lanes === 1) return `fn reduce_${name}(value: ${type}, lane: u32) -> ${type} { return value; }\n`
  const joined = (at: string, stride: number, count: 2 | 4) => {
    const [a, b, c, d] = [0, 1, 2, 3].map((i) => `exchange[${at}${i === 0 ? '' : ` + ${i * stride}u`}]`) as [string, string, string, string]
    return count === 4 ? combine(`(${combine(a, b)})`, `(${combine(c, d)})`) : combine(a, b)
  }
  const steps: string[] = []
  // Four at a time: half the barriers. The last two or four are read by every thread.
  let left = lanes
  while (left > 4) {
    const count = left % 4 === 0 ? 4 : 2
    left /= count
    steps.push(`  if (lane % ${lanes}u < ${left}u) { exchange[lane] = ${joined('lane', left, count)}; }\n  workgroupBarrier();`)
  }
  return `fn reduce_${name}(value: ${type}, lane: u32) -> ${type} {
  exchange[lane] = value;
  workgroupBarrier();
${steps.join('\n')}
  let first = lane - lane % ${lanes}u;
  let result = ${joined('first', 1, left === 4 ? 4 : 2)};
  workgroupBarrier();
  return result;
}
`
}

/** The workgroup memory that `reduce_*` uses. */
export const exchange = (threads = THREADS, type: Reduced = 'f32'): string => `var<workgroup> exchange: array<${type}, ${threads}>;\n`
export const EXCHANGE = exchange()

/** WGSL sum and maximum of the elements of one vector. */
export const sumOf = (vector: string, width: Width): string => (width === 4 ? `dot(${vector}, vec4<f32>(1.0))` : vector)
export const maxOf = (vector: string, width: Width): string => (width === 4 ? `max(max(${vector}.x, ${vector}.y), max(${vector}.z, ${vector}.w))` : vector)

/** Repeats WGSL for each kept vector: `{k}` is its number. */
export const forEachKept = (count: number, text: string): string => Array.from({ length: count }, (_, k) => text.replaceAll('{k}', String(k))).join('\n')
