import { STATUSES, type Grade, type Result } from '@core/result'
import { ROW_NUMBERS, rowNumbersOf, type RowNumber } from '@core/session/rows'

const GRADES: readonly (Grade | undefined)[] = [undefined, 'A', 'B', 'C']

/** float64 values as bytes, to the bit. Little-endian, as every platform the app runs on. */
export function toBytes(values: ArrayLike<number>): Uint8Array {
  return new Uint8Array(Float64Array.from(values).buffer)
}

/** The float64 values of bytes. */
export function fromBytes(bytes: Uint8Array): Float64Array {
  return new Float64Array(bytes.slice().buffer)
}

/** Everything of a result but its case, its samples and the figures beside each sample, which are stored on their own. */
export type ResultBody = Omit<Result, 'case' | 'samplesNs' | 'clocksMhz' | 'probesNs'>

/** A result as columns of `results` and `bodies`. */
export interface StoredResult {
  status: number
  grade: number
  message: string | null
  numbers: Uint8Array
  json: string
  samples: Uint8Array
  clocks: Uint8Array | null
  probes: Uint8Array | null
}

export function store(result: Result): StoredResult {
  const { case: _case, samplesNs, clocksMhz, probesNs, ...body } = result
  const numbers = rowNumbersOf(result)
  return {
    status: STATUSES.indexOf(result.status),
    grade: GRADES.indexOf(result.grade),
    message: result.message ?? null,
    numbers: toBytes(ROW_NUMBERS.map((name) => numbers[name])),
    json: JSON.stringify(body satisfies ResultBody),
    samples: toBytes(samplesNs),
    clocks: clocksMhz ? toBytes(clocksMhz) : null,
    probes: probesNs ? toBytes(probesNs) : null,
  }
}

/** The result as it was given to `store`. */
export function restore(stored: Pick<StoredResult, 'json' | 'samples' | 'clocks' | 'probes'> & { caseJson: string }): Result {
  const body = parseStored<ResultBody>(stored.json, 'A result of this session')
  const result: Result = { ...body, case: parseStored<Result['case']>(stored.caseJson, 'A case of this session'), samplesNs: Array.from(fromBytes(stored.samples)) }
  if (stored.clocks) result.clocksMhz = Array.from(fromBytes(stored.clocks))
  if (stored.probes) result.probesNs = Array.from(fromBytes(stored.probes))
  return result
}

/** Spreads stored row numbers over columns: call once per row. One scratch buffer serves all rows, since blobs may lie unaligned. */
export function numberReader(columns: Readonly<Record<RowNumber, Float64Array>>): (row: number, bytes: Uint8Array) => void {
  const scratch = new Float64Array(ROW_NUMBERS.length)
  const scratchBytes = new Uint8Array(scratch.buffer)
  const targets = ROW_NUMBERS.map((name) => columns[name])
  return (row, bytes) => {
    // A row written by a version that knew fewer numbers leaves the rest absent.
    if (bytes.length < scratchBytes.length) scratch.fill(NaN)
    scratchBytes.set(bytes.length > scratchBytes.length ? bytes.subarray(0, scratchBytes.length) : bytes)
    for (let i = 0; i < targets.length; i++) targets[i]![row] = scratch[i]!
  }
}

/** A record that cannot be read, in words that say which and where to look. */
export class UnreadableError extends Error {
  override name = 'UnreadableError'
  constructor(what: string, options?: ErrorOptions) {
    super(`${what} is damaged in the history and cannot be read. Settings → History → Check, or "opscope history check", lists all damage; a backup can be restored.`, options)
  }
}

/** JSON of the history; `what` names the record for the user. Throws UnreadableError. */
export function parseStored<T>(json: string, what: string): T {
  try {
    return JSON.parse(json) as T
  } catch (error) {
    throw new UnreadableError(what, { cause: error })
  }
}

/** Those of several records that can be read: one that is damaged hides no other, and the check of the history names it. */
export const readable = <T>(rows: readonly { json: string }[]): T[] =>
  rows.flatMap(({ json }) => {
    try {
      return [JSON.parse(json) as T]
    } catch {
      return []
    }
  })
