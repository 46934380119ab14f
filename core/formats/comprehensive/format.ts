import type { BenchmarkCase, Params } from '../../case'
import { inputsOf } from '../../ops/define'
import { findOp } from '../../ops/registry'
import { roofline, roofsOf } from '../../roofline/roofline'
import type { Result } from '../../result'
import type { SessionFile } from '../../session/types'
import { nsToMilliseconds } from '../shared/decimal'
import { writeJson } from '../shared/write-json'
import type { ExportContext, FileFormat } from '../types'
import { importRows, MEGABYTE } from './read'

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
