import { sizeOf, workOf } from '@core/analysis/size'
import type { RowSource } from '../../stores/rows/result-rows'
import { pointsOf } from './points'
import { describe } from './series'

/** Rows that are looked through at a time, which is about 10 ms of work. */
const SLICE_ROWS = 2000
const nextTask = () => new Promise<void>((resolve) => setTimeout(resolve))

/** How many rows of a source were looked through: they are only appended. */
const looked = new WeakMap<RowSource, number>()
/** What is going on: charts and answer ask at the same time. */
const taking = new WeakMap<RowSource, Promise<void>>()

/**
 * Makes `pointsOf` and what charts ask of every case cheap: looks through the rows of a large session by slices, between which the page answers
 * input. Resolves at once where there are few to look through.
 */
export async function takePoints(rows: RowSource, pause: () => Promise<void> = nextTask): Promise<void> {
  if (rows.length - (looked.get(rows) ?? 0) <= SLICE_ROWS) return
  let under = taking.get(rows)
  if (!under) taking.set(rows, (under = inSlices(rows, pause).finally(() => taking.delete(rows))))
  await under
}

async function inSlices(rows: RowSource, pause: () => Promise<void>): Promise<void> {
  for (let from = looked.get(rows) ?? 0; from < rows.length; ) {
    const to = Math.min(rows.length, from + SLICE_ROWS)
    // Kept for each case by those who find them.
    for (let i = from; i < to; i++) void [describe(rows.case(i)), sizeOf(rows.case(i)), workOf(rows.case(i))]
    looked.set(rows, (from = to))
    await pause()
  }
  pointsOf(rows)
  await pause()
}
