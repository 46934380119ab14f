import { SharedWork } from '@core/analysis/opening'
import { sizeOf } from '@core/analysis/size'
import { inSlices, type SliceOptions } from '../../lib/slices'
import type { RowSource } from '../../stores/rows/result-rows'
import { automaticBaselines } from './automatic'
import { pointsOf, pointsSteps, rowsToTake } from './points'
import { describe } from './series'

/** Up to this many rows are taken in at once, which is about 10 ms of work. */
const FEW_ROWS = 1000

/** What charts and answer are waiting for: both ask at the same time. */
const taking = new WeakMap<RowSource, Promise<unknown>>()

/**
 * Makes `pointsOf` and what charts ask of every case cheap: looks through the rows of a large session by slices, between which the page answers
 * input. Resolves at once where there are few to look through.
 */
export async function takePoints(rows: RowSource, options: SliceOptions = {}): Promise<void> {
  if (rowsToTake(rows) <= FEW_ROWS) return
  let under = taking.get(rows)
  if (!under) taking.set(rows, (under = take(rows, options).finally(() => taking.delete(rows))))
  await under
}

async function take(rows: RowSource, options: SliceOptions): Promise<void> {
  const shared = new SharedWork()
  await inSlices(pointsSteps(rows, ({ case: c }) => {
    // Kept for each case by those who find them.
    void [describe(c), sizeOf(c)]
    shared.add(c)
  }), options)
  automaticBaselines(pointsOf(rows), shared)
}
