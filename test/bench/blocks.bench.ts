import { setTimeout as rest } from 'node:timers/promises'
import type { BenchmarkCase } from '@core/case'
import { selfCheckPairs } from '@core/compare'
import { extent, median } from '@core/stats/descriptive'
import { loadFigure, type Bench, type Figure, type Outcome } from './bench'
import { describe, openBed, type Bed } from './proof/bed'
import { shortBlocks } from './proof/interleaved'

/** Different cases of a self-check. */
const CASES = 12
/** The first block of a case opens it, the second is the first of a case that was measured before. */
const OPENING = 2

interface Block {
  wallMs: number
  medianNs: number
}

async function blocks(bed: Bed, c: BenchmarkCase, count: number, seconds: number, restSeconds = 0): Promise<Block[]> {
  const made: Block[] = []
  for (let i = 0; i < count; i++) {
    if (restSeconds > 0) await rest(restSeconds * 1000)
    const { wallMs, summary } = await bed.measure(c, shortBlocks(seconds), true)
    made.push({ wallMs, medianNs: summary!.medianNs })
  }
  return made
}

const mediansOf = (list: readonly Block[]) => list.map(({ medianNs }) => medianNs)

/**
 * What a short block of a comparison takes in all, how far blocks of a case differ, and whether a rest before a block changes
 * its time: a device that rests may lower its clock. The cases of a self-check, each left open for its blocks.
 * devices=cpu | cuda:0 | webgpu:0; block=0.01 seconds; count=10 blocks in a row; rested=3 blocks after a rest of rest=2 seconds each.
 */
const bench: Bench = async ({ args, say }): Promise<Outcome> => {
  const [seconds, count, rested, restSeconds] = [Number(args['block'] ?? 0.01), Number(args['count'] ?? 10), Number(args['rested'] ?? 3), Number(args['rest'] ?? 2)]
  const bed = await openBed(args)
  try {
    const figures: Figure[] = []
    const rows: Record<string, string | number>[] = []
    for (const device of bed.devices) {
      const mine = []
      for (const { a: c } of selfCheckPairs([device], CASES)) {
        say(`${device.id}: ${describe(c)}`)
        const inARow = (await blocks(bed, c, OPENING + count, seconds)).slice(OPENING)
        const after = await blocks(bed, c, rested, seconds, restSeconds)
        const [low, high] = extent(mediansOf(inARow))
        mine.push({ device: device.id, case: describe(c), wallMs: median(inARow.map(({ wallMs }) => wallMs))!, medianNs: median(mediansOf(inARow))!, spreadPercent: (high / low - 1) * 100, afterRestNs: median(mediansOf(after))!, restPercent: (median(mediansOf(after))! / median(mediansOf(inARow))! - 1) * 100 })
      }
      figures.push(
        { name: `${device.id}: a block of ${seconds * 1000} ms takes, median of ${mine.length} cases`, value: median(mine.map(({ wallMs }) => wallMs))!, unit: 'ms' },
        { name: `${device.id}: largest over smallest median of ${count} blocks in a row, median of the cases`, value: median(mine.map(({ spreadPercent }) => spreadPercent))!, unit: '%' },
        { name: `${device.id}: longer after a rest of ${restSeconds} s, median of the cases`, value: median(mine.map(({ restPercent }) => restPercent))!, unit: '%' },
        { name: `${device.id}: longer after that rest, most`, value: Math.max(...mine.map(({ restPercent }) => restPercent)), unit: '%' },
      )
      rows.push(...mine)
    }
    return { figures: [...figures, loadFigure()], rows, devices: bed.devices }
  } finally {
    bed.close()
  }
}
export default bench
