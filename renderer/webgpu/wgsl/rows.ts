import { THREADS, widthFor, type Width } from './header'

/** How the threads of a workgroup share rows: `lanes` threads work on one row, several rows fit into a workgroup. */
export interface RowPlan {
  width: Width
  /** Vectors of `width` elements in a row. */
  vectors: number
  /** A power of two up to THREADS. */
  lanes: number
  rowsPerGroup: number
  groups: number
  /** Vectors each lane keeps in registers, so that the row is read once; undefined where a row is too long for that. */
  kept: number | undefined
}

const WANTED_PER_LANE = 4
/** 16 vectors of four f32 are 64 registers: more would cost occupancy. */
const MAX_KEPT = 16

/** Plan for `rows` rows of `length` elements. */
export function planRows(rows: number, length: number): RowPlan {
  const width = widthFor(length)
  const vectors = length / width
  const lanes = Math.min(THREADS, powerOfTwoFrom(Math.ceil(vectors / WANTED_PER_LANE)))
  const rowsPerGroup = THREADS / lanes
  const perLane = Math.ceil(vectors / lanes)
  return { width, vectors, lanes, rowsPerGroup, groups: Math.ceil(rows / rowsPerGroup), kept: perLane <= MAX_KEPT ? perLane : undefined }
}

/** The smallest power of two that is at least `n`. */
export function powerOfTwoFrom(n: number): number {
  let power = 1
  while (power < n) power *= 2
  return power
}

/**
 * WGSL `reduce_<name>(value, lane)`: combines the values of the `lanes` neighbouring threads that share a row and gives
 * every one of them the result. Contains barriers: call it where all threads of the workgroup pass.
 */
export function reduction(name: string, lanes: number, combine: (a: string, b: string) => string): string {
  const steps: string[] = []
  for (let stride = lanes / 2; stride >= 1; stride /= 2) {
    steps.push(`  if (lane % ${lanes}u < ${stride}u) { exchange[lane] = ${combine('exchange[lane]', `exchange[lane + ${stride}u]`)}; }\n  workgroupBarrier();`)
  }
  if (lanes === 1) return `fn reduce_${name}(value: f32, lane: u32) -> f32 { return value; }\n`
  return `fn reduce_${name}(value: f32, lane: u32) -> f32 {
  exchange[lane] = value;
  workgroupBarrier();
${steps.join('\n')}
  let result = exchange[lane - lane % ${lanes}u];
  workgroupBarrier();
  return result;
}
`
}

/** The workgroup memory that `reduce_*` uses. */
export const EXCHANGE = `var<workgroup> exchange: array<f32, ${THREADS}>;\n`

/** WGSL sum and maximum of the elements of one vector. */
export const sumOf = (vector: string, width: Width): string => (width === 4 ? `dot(${vector}, vec4<f32>(1.0))` : vector)
export const maxOf = (vector: string, width: Width): string => (width === 4 ? `max(max(${vector}.x, ${vector}.y), max(${vector}.z, ${vector}.w))` : vector)

/** Repeats WGSL for each kept vector: `{k}` is its number. */
export const forEachKept = (count: number, text: string): string => Array.from({ length: count }, (_, k) => text.replaceAll('{k}', String(k))).join('\n')
