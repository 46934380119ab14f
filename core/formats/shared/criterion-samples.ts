import { foreignDevice, foreignSession, shiftDecimal, type ForeignResult } from './foreign'
import { finishImport } from './check'
import type { ImportSource, ImportOutcome } from '../file-format'

/** Powers of ten to ns of the units of Criterion's clock; other measurements (cycles, energy) have units of their own. */
const TIME_UNITS: Readonly<Record<string, number>> = { ns: 0, us: 3, µs: 3, ms: 6, s: 9 }

/** What one benchmark of Criterion is called and measured, however it was written down. */
export interface CriterionBenchmark {
  /** Group; the whole id where the parts are not known. */
  op: string
  /** Function of the group: what is compared inside it. */
  impl?: string
  value?: string
  /** Time of all calls of a sample, and how many calls. */
  samples: { measured: number; iterations: number }[]
  throughput?: { amount: number; unit: string }
}

/** Factor to ns as a power of ten, or undefined for what is no time. */
export const timeUnit = (unit: string): number | undefined => (Object.hasOwn(TIME_UNITS, unit) ? TIME_UNITS[unit] : undefined)
export const TIME_UNIT_NAMES = Object.keys(TIME_UNITS).join(', ')

/**
 * Each sample is the time of its calls divided by their number. Criterion takes more calls from sample to sample and fits
 * a line, so its `slope` may differ a little from these samples' median.
 */
export function criterionResult({ op, impl, value, samples, throughput }: CriterionBenchmark, power: number): ForeignResult {
  const iterations = samples.map((sample) => sample.iterations)
  const least = iterations.reduce((a, b) => Math.min(a, b))
  const most = iterations.reduce((a, b) => Math.max(a, b))
  const number = value === undefined || value === '' ? NaN : Number(value)
  const result: ForeignResult = {
    op, backend: 'criterion', samplesNs: samples.map(({ measured, iterations: calls }) => shiftDecimal(measured, power) / calls),
    params: value === undefined ? {} : { value: Number.isFinite(number) ? number : value },
    measuredMs: samples.reduce((sum, { measured }) => sum + shiftDecimal(measured, power - 6), 0),
    notes: least === most ? [] : [`Samples are of ${least} to ${most} calls each.`],
  }
  if (impl !== undefined) result.impl = impl
  if (least === most) result.inner = least
  if (throughput?.unit === 'bytes') result.bytes = throughput.amount
  else if (throughput) result.stated = { [`${throughput.unit} per call`]: throughput.amount }
  return result
}

export const criterionSession = (source: ImportSource, results: readonly ForeignResult[]): ImportOutcome =>
  finishImport(foreignSession(source, { tool: 'Criterion', environment: { devices: [foreignDevice('criterion', 'cpu', 'CPU (not named by the file)')] }, results }))
