import type { Params } from '../../case'
import type { Op } from '../../ops/types'
import { mix32 } from '../../values/random'

/** Output elements [start, start + count). */
export interface Range {
  start: number
  count: number
}

/**
 * Work units, about one ns each: of making the inputs of an element and comparing it; of a unit of its reference; of such a
 * unit in products and composites of them, where input elements are made once for many outputs.
 */
export const COST = { element: 12, unit: 4, shared: 1.3 } as const

/** Work units of an element where the whole output is compared with the reference. */
export const wholeCost = (op: Op, params: Params, output: number): number => COST.element + op.referenceCost(params, output) * (op.parts || op.product?.(params, output) ? COST.shared : COST.unit)

/** Elements that one task compares at most: bounds memory and keeps cancel prompt. */
export const CHUNK = 1 << 18
/** Tasks for each thread at least, so that all are busy to the end. */
const TASKS_A_LANE = 4
/** A task of fewer work units is not worth sending to a thread. */
const TASK_WORK = 2e6

/** The whole output in tasks of whole granules, for this many threads. */
export function wholeRanges({ elements, granule, costPerElement }: { elements: number; granule: number; costPerElement: number }, lanes: number): Range[] {
  const even = Math.ceil(elements / (lanes * TASKS_A_LANE))
  const worthwhile = Math.ceil(TASK_WORK / Math.max(costPerElement, 1))
  const wanted = Math.min(CHUNK, Math.max(even, worthwhile))
  const size = Math.max(granule, Math.floor(wanted / granule) * granule)
  const ranges: Range[] = []
  for (let start = 0; start < elements; start += size) ranges.push({ start, count: Math.min(size, elements - start) })
  return ranges
}

/** Of `elements`, `most` chunks spread evenly, the first and the last among them; all of them where they are no more. */
export function chunksOf(elements: number, most = Infinity): Range[] {
  const chunks = Math.ceil(elements / CHUNK)
  const length = Math.min(chunks, most)
  return Array.from({ length }, (_, i) => {
    const start = (length === chunks ? i : Math.floor((i * (chunks - 1)) / (length - 1))) * CHUNK
    return { start, count: Math.min(CHUNK, elements - start) }
  })
}

/** Side of the tiles of which a sample takes elements: kernels compute tiles of 32x32 or multiples of it. */
const TILE = 32

export interface Sample {
  /** In order and without overlap. */
  ranges: Range[]
  /** Share of the tiles (32x32, or 1,024 in a row) that hold a sampled element: of faults of one whole tile, that share is found. */
  coverage: number
}

/**
 * A seeded sample of about `affordable` elements: from every tile of 32x32 of the output (every 1,024 elements of a vector,
 * every 32 rows of what is computed by rows; partial tiles at the ends of the axes are tiles) as many granules as the work
 * allows, at least one. Where the work is too little for every tile, the first, the last and an even choice of the others.
 */
export function sampleRanges({ elements, granule, shape }: { elements: number; granule: number; shape: readonly number[] }, affordable: number, seed: number): Sample {
  const columns = shape.length > 1 ? shape.at(-1)! : elements
  const rows = elements / columns
  const byRow = granule >= columns
  const flat = rows < 2 || columns < 2
  const width = byRow || columns < TILE ? columns : flat ? TILE * TILE : TILE
  const height = flat && !byRow ? 1 : byRow ? Math.max(1, Math.round(granule / columns)) * (granule > columns ? 1 : TILE) : TILE
  const across = Math.ceil(columns / width)
  const cells = across * Math.ceil(rows / height)
  const wanted = Math.max(2, Math.floor(affordable / granule))
  const hit = Math.min(cells, wanted)
  const each = Math.max(1, Math.floor(wanted / cells))
  // Elements in a row are cheaper than as many apart: pieces as long as the tile allows.
  const span = Math.max(granule, Math.floor(Math.min(width, each * granule) / granule) * granule)
  const pieces = Math.max(1, Math.round((each * granule) / span))
  let state = mix32((seed ^ 0x5bd1e995) >>> 0)
  const below = (limit: number) => Math.floor(((state = mix32((state + 0x9e3779b9) >>> 0)) / 4294967296) * limit)
  const found: Range[] = []
  const add = (at: number, length: number) => {
    const start = Math.floor(at / granule) * granule
    found.push({ start, count: Math.min(Math.max(granule, length), elements - start) })
  }
  for (let i = 0; i < hit; i++) {
    // Even strata of cells, a random one of each; the first and the last always.
    const from = Math.floor((i * cells) / hit)
    const to = Math.floor(((i + 1) * cells) / hit)
    const cell = i === 0 ? 0 : i === hit - 1 ? cells - 1 : from + below(to - from)
    const [row, column] = [Math.floor(cell / across) * height, (cell % across) * width]
    const [tall, wide] = [Math.min(height, rows - row), Math.min(width, columns - column)]
    const length = Math.min(span, wide)
    for (let n = 0; n < Math.min(pieces, tall); n++) add((row + below(tall)) * columns + column + below(wide - length + 1), length)
  }
  // The very ends, where a loop that counts wrong leaves something over.
  add(0, granule)
  add(elements - 1, granule)
  const ranges: Range[] = []
  for (const { start, count } of found.sort((a, b) => a.start - b.start)) {
    const last = ranges.at(-1)
    const more = last ? start + count - last.start - last.count : 0
    if (last && last.start + last.count >= start && last.count + more <= CHUNK) last.count += Math.max(0, more)
    else if (!last || last.start + last.count <= start) ranges.push({ start, count })
    else if (more > 0) ranges.push({ start: last.start + last.count, count: more })
  }
  return { ranges, coverage: hit / cells }
}

/** Runs of a few long ranges, one from each of equal strata, first and last granule included: what an estimate of the norm needs where neighbours share their inputs. */
export function sampleRuns({ elements, granule }: { elements: number; granule: number }, affordable: number, seed: number): Range[] {
  const granules = Math.ceil(elements / granule)
  const wanted = Math.min(granules, Math.max(2, Math.floor(affordable / granule)))
  const runs = Math.min(16, wanted)
  const perRun = Math.max(1, Math.floor(wanted / runs))
  const ranges: Range[] = []
  for (let run = 0; run < runs; run++) {
    const from = Math.floor((granules * run) / runs)
    const room = Math.floor((granules * (run + 1)) / runs) - from - perRun
    const jitter = mix32((seed + run) >>> 0) / 4294967296
    const first = run === 0 ? 0 : run === runs - 1 ? granules - perRun : from + Math.floor(jitter * (Math.max(0, room) + 1))
    const start = first * granule
    ranges.push({ start, count: Math.min(elements, (first + perRun) * granule) - start })
  }
  return ranges
}
