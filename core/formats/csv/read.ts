import { DTYPES, MODES, type Params } from '../../case'
import { plainText, readCsv, type CsvRecord } from '../../csv'
import { STATUSES, type Energy, type Result } from '../../result'
import { SCHEMA_VERSION } from '../../session/types'
import type { ImportSource, ImportOutcome } from '../file-format'
import { finishImport } from '../shared/check'
import { contradictedRate, rateClaim, type Claim } from '../shared/contradictions'
import { fitParams, fitText, foreignDevice, isoTime, shortHash } from '../shared/foreign'

/** A cell that is not what its column says: `line 3, column median_ns: expected ..., received "x"`. */
class CellProblem extends Error {}

const NUMBER = /^-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype'])

/** The cells of one row by column name; an empty cell is absent. */
class Row {
  constructor(
    private readonly columns: ReadonlyMap<string, number>,
    private readonly record: CsvRecord,
  ) {}

  fail(column: string, expected: string): never {
    const cell = this.text(column)
    throw new CellProblem(`line ${this.record.line}, column ${column}: expected ${expected}, received ${cell === undefined ? 'nothing' : JSON.stringify(cell.slice(0, 60))}`)
  }

  text(column: string): string | undefined {
    const cell = this.record.cells[this.columns.get(column) ?? -1]
    return cell === undefined || cell === '' ? undefined : plainText(cell)
  }

  number(column: string, expected: 'a number of at least 0' | 'a whole number of at least 1' = 'a number of at least 0'): number | undefined {
    const cell = this.text(column)?.trim()
    if (cell === undefined) return undefined
    const value = NUMBER.test(cell) ? Number(cell) : NaN
    const whole = expected === 'a whole number of at least 1'
    return value >= (whole ? 1 : 0) && Number.isFinite(value) && (!whole || Number.isSafeInteger(value)) ? value : this.fail(column, expected)
  }

  oneOf<T extends string>(column: string, choices: readonly T[]): T | undefined {
    const cell = this.text(column)
    return cell === undefined ? undefined : (choices.find((choice) => choice === cell) ?? this.fail(column, `one of ${choices.join(', ')}`))
  }

  param(column: string): Params[string] | undefined {
    const cell = this.text(column)
    // The apostrophe says that it is a text, whatever it looks like.
    if (cell === undefined || cell !== this.record.cells[this.columns.get(column)!]) return cell
    if (cell === 'true' || cell === 'false') return cell === 'true'
    const value = NUMBER.test(cell) ? Number(cell) : NaN
    return Number.isFinite(value) ? value : cell
  }
}

function resultOf(row: Row, params: readonly (readonly [column: string, name: string])[], id: string, at: string): Result {
  const medianNs = row.number('median_ns')
  const status = row.oneOf('status', STATUSES) ?? (medianNs === undefined ? row.fail('median_ns', 'a time, because there is no status') : 'ok')
  if (status === 'ok' && medianNs === undefined) row.fail('median_ns', 'a time, because the status is ok')
  const figures = { ciLowNs: row.number('ci_low_ns'), ciHighNs: row.number('ci_high_ns'), madNs: row.number('mad_ns'), p05Ns: row.number('p05_ns'), p95Ns: row.number('p95_ns'), minNs: row.number('min_ns'), maxNs: row.number('max_ns'), meanNs: row.number('mean_ns'), stddevNs: row.number('stddev_ns') }
  /** 1e9 per second is one per ns. */
  const perCall = (column: string) => (row.number(column) ?? 0) * (medianNs ?? 0)
  const error = row.number('max_rel_error')
  const converged = row.oneOf('converged', ['true', 'false'])
  const given = params.flatMap(([column, name]) => {
    const value = row.param(column)
    return value === undefined ? [] : [[name, value] as const]
  })
  const energy = energyOf(row)
  const startedAt = row.text('started_at')
  return {
    id: row.text('result_id') ?? id,
    case: {
      op: fitText(row.text('op') ?? row.fail('op', 'the name of an operation'), 80), params: fitParams(Object.fromEntries(given)), dtype: row.oneOf('dtype', [...DTYPES, 'unknown']) ?? 'unknown',
      backend: fitText(row.text('backend') ?? 'csv', 40), impl: fitText(row.text('impl') ?? 'imported', 40), device: fitText(row.text('device') ?? 'cpu', 80), mode: row.oneOf('mode', MODES) ?? 'hot', threads: row.number('threads', 'a whole number of at least 1'),
    },
    status,
    message: row.text('message') ?? (status === 'ok' ? undefined : 'The file states no reason.'),
    startedAt: startedAt === undefined ? at : (isoTime(startedAt) ?? row.fail('started_at', 'a time such as 2026-01-31T12:00:00Z')),
    wallMs: 0,
    measuredMs: 0,
    bytes: row.number('bytes') ?? perCall('gbps'),
    flops: row.number('flops') ?? perCall('gflops'),
    samplesNs: [],
    summary: medianNs === undefined ? undefined : { count: row.number('samples', 'a whole number of at least 1'), medianNs, ...figures },
    converged: converged === undefined ? undefined : converged === 'true',
    grade: row.oneOf('grade', ['A', 'B', 'C']),
    notes: ['Imported from CSV, which has no samples.', ...(error === undefined ? [] : [`The file states a relative error of ${error}.`]), ...(typeof energy === 'string' ? [energy] : [])],
    caseBytes: row.number('peak_memory_bytes'),
    libraryPeakBytes: row.number('library_peak_bytes'),
    hostCallNs: row.number('launch_overhead_ns'),
    ...(typeof energy === 'object' ? { energy } : {}),
    seed: 0,
  }
}

/** The energy of a call; a note where the row has joules but not what tells how well they are known. */
function energyOf(row: Row): Energy | string | undefined {
  const joulesPerCall = row.number('energy_j')
  if (joulesPerCall === undefined) return undefined
  const [lowJ, highJ, watts, windows, seconds, calls, source] = [row.number('energy_low_j'), row.number('energy_high_j'), row.number('power_w'), row.number('energy_windows', 'a whole number of at least 1'), row.number('energy_seconds'), row.number('energy_calls', 'a whole number of at least 1'), row.text('energy_source')]
  if (lowJ === undefined || highJ === undefined || !watts || windows === undefined || !seconds || calls === undefined || source === undefined) return `The file states ${joulesPerCall} J a call, without the interval and windows that an energy needs.`
  if (!(joulesPerCall > 0) || lowJ > joulesPerCall || highJ < joulesPerCall) row.fail('energy_j', 'a number above 0 within its interval')
  const [idleWatts, sampledJoulesPerCall] = [row.number('idle_power_w'), row.number('energy_sampled_j')]
  return { joulesPerCall, lowJ, highJ, windows, seconds, calls, watts, source: fitText(source, 80), ...(idleWatts === undefined ? {} : { idleWatts }), ...(sampledJoulesPerCall === undefined ? {} : { sampledJoulesPerCall }) }
}

/** Throughputs that contradict the row's own bytes, FLOP and time. */
function claimOf(row: Row): Claim | undefined {
  const medianNs = row.number('median_ns')
  return rateClaim([contradictedRate('GB/s', row.number('gbps'), row.number('bytes'), medianNs), contradictedRate('GFLOP/s', row.number('gflops'), row.number('flops'), medianNs)])
}

/** Any table with the columns `op` and `median_ns`; columns that are not those of an export are parameters. */
export function importCsv(source: ImportSource): ImportOutcome | null {
  const firstLine = source.text.slice(0, 20_000).split(/\r?\n|\r/, 1)[0]!
  if (!/(^|,)"?op"?(,|$)/.test(firstLine) || !/(^|,)"?median_ns"?(,|$)/.test(firstLine)) return null
  const read = readCsv(source.text)
  if (!read.ok) return read
  const [header, ...records] = read.records
  if (records.length === 0) return { ok: false, message: 'line 2: expected a result, received the end of the file' }
  const names = header!.cells.map(plainText)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) return { ok: false, message: `line 1: the column ${JSON.stringify(twice.slice(0, 60))} is there twice` }
  const known = new Set<string>(['op', ...AFTER_PARAMS])
  const params = names.filter((name) => !known.has(name) && name !== '').map((name) => [name, name.startsWith(PARAM_PREFIX) ? name.slice(PARAM_PREFIX.length) : name] as const)
  const unsafe = params.find(([, name]) => FORBIDDEN.has(name))
  if (unsafe) return { ok: false, message: `line 1: the column "${unsafe[0]}" is not allowed` }
  const columns = new Map(names.map((name, i) => [name, i]))
  const hash = shortHash(source.text)
  const results: Result[] = []
  const claims = new Map<string, Claim>()
  try {
    for (const [i, record] of records.entries()) {
      if (record.cells.length !== names.length) return { ok: false, message: `line ${record.line}: expected ${names.length} cells as in the first line, received ${record.cells.length}` }
      const row = new Row(columns, record)
      const result = resultOf(row, params, `${hash}-${i}`, source.now)
      const claim = claimOf(row)
      results.push(result)
      if (claim) claims.set(result.id, claim)
    }
  } catch (error) {
    if (error instanceof CellProblem) return { ok: false, message: error.message }
    throw error
  }
  const devices = [...new Map(results.map(({ case: c }) => [`${c.backend}|${c.device}`, foreignDevice(c.backend, c.device, c.device)])).values()]
  return finishImport({
    schemaVersion: SCHEMA_VERSION,
    session: { id: `imported-${hash}`, name: fitText(source.name.replace(/\.csv$/i, ''), 200), createdAt: results[0]?.startedAt ?? source.now, notes: '', tags: ['imported'], state: 'done', planned: results.length },
    environment: { appVersion: '', host: '', os: '', kernel: '', cpu: '', logicalCpus: 0, memoryBytes: 0, node: '', devices },
    results,
    claims,
  })
}

/** Columns of the table behind the operation and its parameters; times in ns per call. */
export const AFTER_PARAMS = [
  'dtype', 'backend', 'impl', 'device', 'mode', 'threads', 'status', 'samples', 'median_ns', 'ci_low_ns', 'ci_high_ns', 'mad_ns', 'p05_ns', 'p95_ns', 'min_ns', 'max_ns', 'mean_ns',
  'stddev_ns', 'bytes', 'flops', 'gbps', 'gflops', 'efficiency', 'ceiling_gbps', 'ceiling_gflops', 'speedup', 'peak_memory_bytes', 'library_peak_bytes', 'launch_overhead_ns', 'registers', 'shared_memory_bytes', 'occupancy', 'waves', 'energy_j', 'energy_low_j', 'energy_high_j', 'power_w', 'idle_power_w', 'flops_per_joule', 'bytes_per_joule', 'energy_delay_js', 'energy_windows', 'energy_seconds', 'energy_calls', 'energy_sampled_j', 'energy_source', 'instructions', 'cycles', 'l1_hit_ratio', 'llc_hit_ratio', 'max_rel_error', 'converged', 'grade', 'message', 'started_at', 'result_id',
] as const

/** Before the name of a parameter that is called as a column is. */
export const PARAM_PREFIX = 'param_'
