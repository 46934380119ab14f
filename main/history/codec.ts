import type { Grade, Result } from '@core/result'
import { STATUSES } from '@core/result'
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

/** Everything of a result but its case and samples, which are stored on their own. */
export type ResultBody = Omit<Result, 'case' | 'samplesNs'>

/** A result as columns of `results` and `bodies`. */
export interface StoredResult {
  status: number
  grade: number
  message: string | null
  numbers: Uint8Array
  json: string
  samples: Uint8Array
}

export function store(result: Result): StoredResult {
  const { case: _case, samplesNs, ...body } = result
  const numbers = rowNumbersOf(result)
  return {
    status: STATUSES.indexOf(result.status),
    grade: GRADES.indexOf(result.grade),
    message: result.message ?? null,
    numbers: toBytes(ROW_NUMBERS.map((name) => numbers[name])),
    json: JSON.stringify(body satisfies ResultBody),
    samples: toBytes(samplesNs),
  }
}

/** The result as it was given to `store`. */
export function restore(stored: { json: string; samples: Uint8Array; caseJson: string }): Result {
  const body = JSON.parse(stored.json) as ResultBody
  return { ...body, case: JSON.parse(stored.caseJson) as Result['case'], samplesNs: Array.from(fromBytes(stored.samples)) }
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
