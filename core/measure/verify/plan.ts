import { mix32 } from '../../random'

/** Output elements [start, start + count). */
export interface Range {
  start: number
  count: number
}

/** Elements read and compared in one go when everything is checked: bounds memory and keeps cancel prompt. */
const CHUNK = 1 << 18
/** Ranges of a sampled check. Each costs a read from the device, so they are few and long. */
const SAMPLED_RANGES = 16

/**
 * Which parts of an output to compare with the reference, in order and without overlap. Everything when
 * `costPerElement * elements` is within `work`; else a seeded sample of runs of whole granules, one from each of equal
 * strata, that always holds the first and the last granule.
 */
export function planRanges(output: { elements: number; granule: number; costPerElement: number }, work: number, seed: number): Range[] {
  const { elements } = output
  const granule = Math.max(1, Math.min(output.granule, elements))
  if (elements === 0) return []
  const granules = Math.ceil(elements / granule)
  const affordable = Math.floor(work / Math.max(output.costPerElement, Number.MIN_VALUE) / granule)
  if (affordable >= granules) return chunks(elements, granule)

  const wanted = Math.min(granules, Math.max(2, affordable))
  const runs = Math.min(SAMPLED_RANGES, wanted)
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

function chunks(elements: number, granule: number): Range[] {
  const size = Math.max(granule, Math.floor(CHUNK / granule) * granule)
  const ranges: Range[] = []
  for (let start = 0; start < elements; start += size) ranges.push({ start, count: Math.min(size, elements - start) })
  return ranges
}
