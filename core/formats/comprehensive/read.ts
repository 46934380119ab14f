import { z } from 'zod'
import { benchmarkCaseSchema } from '../../case'
import { contradictedRate, rateClaim } from '../shared/contradictions'
import { readAs, finishImport } from '../shared/finish'
import { foreignDevice, foreignSession, type ForeignResult } from '../shared/foreign'
import { millisecondsToNs } from '../shared/decimal'
import { MEAN_AS_MEDIAN } from '../shared/statements'
import type { ImportSource } from '../source'
import type { ImportOutcome } from '../types'

const name = z.string().min(1)
const extent = z.number().int().nonnegative()
/** 31 years */
const milliseconds = z.number().nonnegative().max(1e12)
const known = z.number().nonnegative().max(1e15).nullish()

const rowSchema = z.object({
  operation: name,
  implementation: name,
  batch_size: extent,
  sequence_length: extent,
  tensor_dimension: extent,
  time_ms: milliseconds,
  memory_mb: known,
  inference_speed: known,
  gpu_efficiency: z.number().nullish(),
  throughput_gbps: known,
  /** Written by this app only: what the ten keys of the suite have no room for. */
  opscope: z.object({ case: benchmarkCaseSchema, median_ms: milliseconds, bytes: known, flops: known, stddev_ms: milliseconds.nullish(), samples: z.number().int().positive().nullish() }).optional(),
})
type Row = z.infer<typeof rowSchema>

/** The suite counts memory in units of 1024 * 1024 bytes and calls them MB. */
export const MEGABYTE = 2 ** 20

const ms = (value: number | null | undefined) => (value == null ? undefined : millisecondsToNs(value))

function resultOf(row: Row): ForeignResult {
  const common: Pick<ForeignResult, 'memoryBytes' | 'stated'> = { memoryBytes: row.memory_mb == null ? undefined : row.memory_mb * MEGABYTE, stated: row.gpu_efficiency == null ? {} : { gpu_efficiency: row.gpu_efficiency } }
  const meanNs = millisecondsToNs(row.time_ms)
  if (row.opscope) {
    const { case: c, median_ms, bytes, flops, stddev_ms, samples } = row.opscope
    const claim = rateClaim([contradictedRate('GB/s', row.throughput_gbps ?? undefined, bytes ?? undefined, meanNs)])
    return { ...c, ...common, ...(claim ? { claim } : {}), bytes: bytes ?? 0, flops: flops ?? 0, summary: { count: samples ?? undefined, medianNs: millisecondsToNs(median_ms), meanNs, stddevNs: ms(stddev_ms) } }
  }
  return {
    ...common,
    op: row.operation, params: { batch_size: row.batch_size, sequence_length: row.sequence_length, tensor_dimension: row.tensor_dimension },
    backend: 'comprehensive', impl: row.implementation, device: 'cuda:0',
    bytes: row.throughput_gbps == null ? 0 : row.throughput_gbps * meanNs,
    summary: { medianNs: meanNs, meanNs },
    notes: [MEAN_AS_MEDIAN, ...(row.throughput_gbps == null ? [] : ['The bandwidth is the throughput that the file states; the suite derives it from the peak memory, not from the traffic.'])],
  }
}

/** A list of results, or an object whose `results` is one. */
export function importRows(source: ImportSource): ImportOutcome | null {
  const raw = source.looseJson()
  const bare = Array.isArray(raw)
  const rows: unknown = bare ? raw : typeof raw === 'object' && raw !== null ? (raw as { results?: unknown }).results : undefined
  if (!Array.isArray(rows) || !rows.some((row: unknown) => typeof row === 'object' && row !== null && Object.hasOwn(row, 'operation') && Object.hasOwn(row, 'time_ms'))) return null
  // A native session of any state has results too, and is never this.
  if (!bare && Object.hasOwn(raw as object, 'schemaVersion')) return null
  const read = bare ? readAs(z.array(rowSchema), rows) : readAs(z.object({ results: z.array(rowSchema) }), raw)
  if (!read.ok) return read
  const results = (Array.isArray(read.value) ? read.value : read.value.results).map(resultOf)
  const devices = [...new Map(results.map(({ backend, device = 'cuda:0' }) => [`${backend} ${device}`, foreignDevice(backend, device, 'not named by the file')])).values()]
  return finishImport(foreignSession(source, { tool: 'the comprehensive CUDA/Triton suite', environment: { devices }, results }))
}
