import { z } from 'zod'
import { benchmarkCaseSchema, type BenchmarkCase, type Params } from '../../case'
import { inputsOf } from '../../ops/define'
import { findOp } from '../../ops/registry'
import type { Result } from '../../result'
import { roofline, roofsOf } from '../../roofline/roofline'
import type { SessionFile } from '../../session/types'
import { contradictedRate, rateClaim } from '../shared/contradictions'
import { nsToMilliseconds, millisecondsToNs, foreignDevice, foreignSession, MEAN_AS_MEDIAN, type ForeignResult } from '../shared/foreign'
import { readAs, finishImport } from '../shared/check'
import { writeJson } from '../shared/json'
import type { ImportSource, ExportContext, FileFormat, ImportOutcome } from '../file-format'

const whole = (params: Params, key: string) => (typeof params[key] === 'number' && Number.isInteger(params[key]) && params[key] >= 0 ? params[key] : undefined)

/** Extents of a case as batch, sequence and dimension: from parameters of these names, else of its op's first input, filled up with 1. */
function extents({ op, params, dtype }: BenchmarkCase): [batch: number, sequence: number, dimension: number] {
  const known = findOp(op)
  const parsed = known?.params.safeParse(params)
  const dims = known && parsed?.success ? (inputsOf(known, parsed.data, dtype)[0]?.shape ?? []) : []
  const [dimension = 1, sequence = 1, ...batches] = [...dims].reverse()
  return [whole(params, 'batch_size') ?? batches.reduce((product, n) => product * n, 1), whole(params, 'sequence_length') ?? sequence, whole(params, 'tensor_dimension') ?? dimension]
}

/** Percent of the binding measured ceiling, at most 100 as the suite has it; what another file stated goes before. */
function efficiency(result: Result, medianNs: number, { ceilings }: ExportContext): number | null {
  const stated = result.stated?.['gpu_efficiency']
  if (stated !== undefined) return stated
  if (result.case.device === 'cpu') return null
  const share = roofline({ bytes: result.bytes, flops: result.flops, medianNs }, roofsOf(ceilings, result.case))?.efficiency
  return share === undefined ? null : Math.min(100, share * 100)
}

/**
 * One object per right result with the ten keys of the suite. time_ms is the mean, as there (the median where no mean is
 * known); null is what is not known. The key `opscope` holds the case in full and the median, for reading it again.
 */
function exportRows(file: SessionFile, context: ExportContext): string {
  const lines = file.results.flatMap((result) => {
    const { summary: s, case: c } = result
    if (result.status !== 'ok' || !s) return []
    const [batch, sequence, dimension] = extents(c)
    const timeNs = s.meanNs ?? s.medianNs
    return writeJson({
      operation: c.op, implementation: c.impl, batch_size: batch, sequence_length: sequence, tensor_dimension: dimension,
      time_ms: nsToMilliseconds(timeNs), memory_mb: result.caseBytes === undefined ? null : result.caseBytes / MEGABYTE,
      inference_speed: timeNs > 0 ? 1e9 / timeNs : null, gpu_efficiency: efficiency(result, s.medianNs, context), throughput_gbps: result.bytes > 0 && timeNs > 0 ? result.bytes / timeNs : null,
      opscope: c.backend === 'comprehensive' ? undefined : { case: c, median_ms: nsToMilliseconds(s.medianNs), bytes: result.bytes, flops: result.flops, stddev_ms: s.stddevNs === undefined ? undefined : nsToMilliseconds(s.stddevNs), samples: s.count },
    })
  })
  return `[${lines.length ? `\n${lines.join(',\n')}\n` : ''}]\n`
}

/**
 * Results of the comprehensive CUDA/Triton suite: per result the mean of 100 calls, peak memory (1024 * 1024 bytes to the
 * MB), and figures derived from both. Read, the mean is shown as the median and the result says so; gpu_efficiency is kept
 * as stated. The file names no device: it is taken for the first GPU.
 */
const format: FileFormat = {
  id: 'comprehensive', title: 'CUDA/Triton suite', description: 'Results of the comprehensive CUDA/Triton suite: a JSON list, one object per result', extension: 'json',
  exportSession: exportRows, importSession: importRows,
}
export default format

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
const MEGABYTE = 2 ** 20

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
function importRows(source: ImportSource): ImportOutcome | null {
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
