import { csvText } from '../../csv'
import { chooseSamples } from '../../measure/result/labels'
import type { Result } from '../../result'
import type { SessionStream } from '../../session/types'
import type { FileFormat } from '../file-format'

/** SM clock beside a sample: its own where there is one, else that of the batch it belongs to. */
function clockOf({ clocksMhz, samplesNs, deviceStates = [] }: Result, index: number): number | undefined {
  if (clocksMhz?.length === samplesNs.length) return clocksMhz[index]
  return deviceStates.findLast(({ firstSample }) => firstSample <= index)?.state.smClockMhz
}

/**
 * One row per sample: ns per call in the order taken, SM clock in MHz where known, kinds of labels joined by semicolons, and 1 where the sample counts: the
 * statistics of the CSV of results are those of its rows with 1. Labelled samples count where too few others are left.
 */
function* exportSamples({ results }: SessionStream): Generator<string, void> {
  yield csvText([['result_id', 'index', 'ns', 'sm_clock_mhz', 'flags', 'counts']])
  for (const result of results) {
    const flags: string[][] = result.samplesNs.map(() => [])
    for (const { kind, first, count } of result.labels ?? []) for (const list of flags.slice(first, first + count)) if (!list.includes(kind)) list.push(kind)
    const { used } = chooseSamples(result.labels, result.samplesNs.length, result.rounds)
    yield csvText(result.samplesNs.map((ns, i) => [result.id, i, ns, clockOf(result, i), flags[i]!.join(';'), used[i]!]))
  }
}

const format: FileFormat = { id: 'samples-csv', title: 'Samples (CSV)', description: 'Every single sample: one line each, with its clock and what disturbed it', extension: 'csv', exportSession: exportSamples, exportStream: { readings: 1, parts: exportSamples } }
export default format
