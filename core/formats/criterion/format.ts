import { plainText, readCsv, type CsvRecord } from '../../csv'
import { criterionResult, criterionSession, timeUnit, TIME_UNIT_NAMES, type CriterionBenchmark } from '../shared/criterion-samples'
import type { ImportSource, FileFormat, ImportOutcome } from '../file-format'

/** Columns that a row cannot do without; those of throughput came with Criterion 0.3. */
const NEEDED = ['group', 'function', 'value', 'sample_measured_value', 'unit', 'iteration_count'] as const

/** A number of at least `least`, or what is wrong with its cell. */
function number(cell: string, place: string, least: number, whole: boolean): number | string {
  const value = cell.trim() === '' ? NaN : Number(cell)
  const right = whole ? Number.isSafeInteger(value) : Number.isFinite(value)
  return right && value >= least && value < 1e18 ? value : `${place}: expected a ${whole ? 'whole ' : ''}number of at least ${least}, received ${JSON.stringify(cell.slice(0, 60))}`
}

interface Row {
  key: string
  benchmark: Omit<CriterionBenchmark, 'samples'>
  sample: { measured: number; iterations: number }
  power: number
}

function readRow({ line, cells }: CsvRecord, columns: readonly string[]): Row | string {
  if (cells.length !== columns.length) return `line ${line}: expected ${columns.length} cells as in the first line, received ${cells.length}`
  const cell = (name: string) => cells[columns.indexOf(name)] ?? ''
  const group = plainText(cell('group'))
  if (group === '') return `line ${line}, group: expected a name, received nothing`
  const measured = number(cell('sample_measured_value'), `line ${line}, sample_measured_value`, 0, false)
  if (typeof measured === 'string') return measured
  const iterations = number(cell('iteration_count'), `line ${line}, iteration_count`, 1, true)
  if (typeof iterations === 'string') return iterations
  const power = timeUnit(cell('unit'))
  if (power === undefined) return `line ${line}, unit: expected one of ${TIME_UNIT_NAMES} because only times can be read, received ${JSON.stringify(cell('unit').slice(0, 60))}`
  const benchmark: Row['benchmark'] = { op: group }
  if (cell('function') !== '') benchmark.impl = plainText(cell('function'))
  if (cell('value') !== '') benchmark.value = plainText(cell('value'))
  if (cell('throughput_num') !== '') {
    const amount = number(cell('throughput_num'), `line ${line}, throughput_num`, 0, false)
    if (typeof amount === 'string') return amount
    benchmark.throughput = { amount, unit: cell('throughput_type') }
  }
  return { key: JSON.stringify([benchmark, power]), benchmark, sample: { measured, iterations }, power }
}

function importRaw(source: ImportSource): ImportOutcome | null {
  const header = /^[^\r\n]*/.exec(source.text)?.[0] ?? ''
  if (!header.includes('sample_measured_value') || !header.includes('iteration_count')) return null
  const read = readCsv(source.text)
  if (!read.ok) return read
  const columns = read.records[0]?.cells ?? []
  const missing = NEEDED.find((name) => !columns.includes(name))
  if (missing) return { ok: false, message: `line 1: expected a column ${missing}` }
  const benchmarks = new Map<string, CriterionBenchmark & { power: number }>()
  const first = columns.join()
  for (const record of read.records.slice(1)) {
    // The first line of the next file, where several were put together.
    if (record.cells.join() === first) continue
    const row = readRow(record, columns)
    if (typeof row === 'string') return { ok: false, message: row }
    const known = benchmarks.get(row.key)
    if (known) known.samples.push(row.sample)
    else benchmarks.set(row.key, { ...row.benchmark, power: row.power, samples: [row.sample] })
  }
  return criterionSession(source, [...benchmarks.values()].map(({ power, ...benchmark }) => criterionResult(benchmark, power)))
}

/**
 * raw.csv, which Criterion writes for every benchmark (target/criterion/.../new/raw.csv): one line per sample. Files of
 * several benchmarks put together are read as one session. The group becomes the operation, the function the
 * implementation, the value a parameter.
 */
const format: FileFormat = { id: 'criterion', title: 'Criterion raw.csv', description: 'Samples of a Rust benchmark as Criterion keeps them', extension: 'csv', importSession: importRaw }
export default format
