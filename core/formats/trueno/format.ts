import { z } from 'zod'
import { readAs, finishImport } from '../shared/check'
import { foreignDevice, foreignSession, MEAN_AS_MEDIAN, nsSchema, type ForeignResult } from '../shared/foreign'
import type { ImportSource, FileFormat, ImportOutcome } from '../file-format'

const figure = nsSchema.nullish()
/** The suite writes `mean_ns`, `std_ns` and `iterations`; its own tools and earlier files leave the unit out. All in ns. */
const statsSchema = z.object({
  mean_ns: figure, mean: figure, std_ns: figure, std: figure, median_ns: figure, median: figure, min_ns: figure, min: figure, max_ns: figure, max: figure,
  iterations: z.number().int().positive().nullish(),
})
/** library -> operation -> elements of a vector -> statistics */
const fileSchema = z.record(z.string(), z.record(z.string(), z.record(z.string(), statsSchema)))

/** `pytorch_cpu` is PyTorch on the processor, `pytorch_cuda` on the first GPU. */
function libraryOf(key: string): { impl: string; device: string } {
  const [, impl = key, device] = /^(.+)_(cpu|cuda)$/.exec(key) ?? []
  return { impl, device: device === 'cuda' ? 'cuda:0' : 'cpu' }
}

function resultOf(key: string, op: string, size: string, stats: z.infer<typeof statsSchema>): ForeignResult | string {
  const place = `${key}.${op}.${size}`.slice(0, 200)
  const n = /^\d+$/.test(size) ? Number(size) : NaN
  if (!Number.isSafeInteger(n) || n < 1) return `${place}: expected a number of elements as the key, received ${JSON.stringify(size.slice(0, 60))}`
  if (op === '') return `${place}: expected the name of an operation, received an empty one`
  const meanNs = stats.mean_ns ?? stats.mean ?? undefined
  const statedMedianNs = stats.median_ns ?? stats.median ?? undefined
  const medianNs = statedMedianNs ?? meanNs
  if (medianNs === undefined) return `${place}.mean_ns: expected a number, received nothing`
  return {
    op, params: { n }, dtype: 'f32', backend: 'trueno', ...libraryOf(key),
    summary: { count: stats.iterations ?? undefined, medianNs, meanNs, stddevNs: stats.std_ns ?? stats.std ?? undefined, minNs: stats.min_ns ?? stats.min ?? undefined, maxNs: stats.max_ns ?? stats.max ?? undefined },
    notes: statedMedianNs === undefined ? [MEAN_AS_MEDIAN] : [],
  }
}

function importResults(source: ImportSource): ImportOutcome | null {
  const raw = source.looseJson()
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw) || !Object.keys(raw).some((key) => key === 'numpy' || key === 'pytorch_cpu')) return null
  const read = readAs(fileSchema, raw)
  if (!read.ok) return read
  const results: ForeignResult[] = []
  for (const [key, ops] of Object.entries(read.value)) {
    for (const [op, sizes] of Object.entries(ops)) {
      for (const [size, stats] of Object.entries(sizes)) {
        const result = resultOf(key, op, size, stats)
        if (typeof result === 'string') return { ok: false, message: result }
        results.push(result)
      }
    }
  }
  const devices = [...new Set(results.map(({ device }) => device ?? 'cpu'))].map((id) => foreignDevice('trueno', id, id === 'cpu' ? 'CPU (not named by the file)' : 'GPU (not named by the file)'))
  return finishImport(foreignSession(source, { tool: 'the NumPy/PyTorch vector suite', environment: { devices }, results }))
}

/**
 * What Trueno's python_comparison.py measures of NumPy and PyTorch: vectors of f32, mean and deviation in ns of so many
 * calls. Operations and sizes have the names of this app's, so that a session of both can be compared. A mean without a
 * median is shown as the median, and the result says so.
 */
const format: FileFormat = { id: 'trueno', title: 'NumPy/PyTorch vectors', description: 'Results of the Trueno suite for NumPy and PyTorch', extension: 'json', importSession: importResults }
export default format
