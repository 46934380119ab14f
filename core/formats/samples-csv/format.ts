import { csvText } from '../../csv'
import type { Result } from '../../result'
import type { SessionStream } from '../../session/types'
import type { FileFormat } from '../file-format'

/** SM clock beside a sample: its own where there is one, else that of the batch it belongs to. */
function clockOf({ clocksMhz, samplesNs, deviceStates = [] }: Result, index: number): number | undefined {
  if (clocksMhz?.length === samplesNs.length) return clocksMhz[index]
  return deviceStates.findLast(({ firstSample }) => firstSample <= index)?.state.smClockMhz
}

/** One row per sample: ns per call in the order taken, SM clock in MHz where known, kinds of labels joined by semicolons. */
function* exportSamples({ results }: SessionStream): Generator<string, void> {
  yield csvText([['result_id', 'index', 'ns', 'sm_clock_mhz', 'flags']])
  for (const result of results) {
    const flags: string[][] = result.samplesNs.map(() => [])
    for (const { kind, first, count } of result.labels ?? []) for (const list of flags.slice(first, first + count)) if (!list.includes(kind)) list.push(kind)
    yield csvText(result.samplesNs.map((ns, i) => [result.id, i, ns, clockOf(result, i), flags[i]!.join(';')]))
  }
}

const format: FileFormat = { id: 'samples-csv', title: 'Samples (CSV)', description: 'Every single sample: one line each, with its clock and what disturbed it', extension: 'csv', exportSession: exportSamples, exportStream: { readings: 1, parts: exportSamples } }
export default format
