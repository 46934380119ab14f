import { markRaw, ref } from 'vue'
import type { BenchmarkCase } from '@core/case'
import type { RoundPasses } from '@core/measure/result/rounds'
import { STATUSES, type Grade, type Status } from '@core/result'
import { GRADES, hasAny, ROW_NUMBERS, type Row, type RowNumber, type SparseBlock } from '@core/session/rows'

/** NaN where it grows. */
const grownFloats = (old: Float64Array, capacity: number) => {
  const next = new Float64Array(capacity)
  next.set(old)
  next.fill(NaN, old.length)
  return next
}

const grownBytes = (old: Uint8Array, capacity: number) => {
  const next = new Uint8Array(capacity)
  next.set(old)
  return next
}

/**
 * The rows of one session in growing typed arrays, about 200 bytes a row and no object per row.
 * 100,000 results arrive as blocks and are never copied into objects; tables make those for the visible rows alone.
 */
export class ResultRows implements RowSource {
  private readonly revision = ref(0)
  private count = 0
  private capacity = 0
  private readonly ids: string[] = []
  private readonly cases: BenchmarkCase[] = []
  private statuses = new Uint8Array(0)
  private grades = new Uint8Array(0)
  /** Of the numbers that a row has: most sessions have half of them. */
  private readonly numbers: Partial<Record<RowNumber, Float64Array>> = {}
  /** In place of the others. */
  private absent = new Float64Array(0)
  private readonly messages = new Map<number, string>()
  private readonly reasons = new Map<number, readonly string[]>()
  private readonly passes = new Map<number, readonly [RoundPasses]>()
  private readonly byId = new Map<string, number>()
  private indexed = 0

  constructor() {
    // A store must not wrap the arrays in proxies.
    markRaw(this)
  }

  get version(): number {
    return this.revision.value
  }

  get length(): number {
    return this.count
  }

  /**
   * Appends the rows of a block that are not here yet. Returns false, changing nothing, when rows before
   * `block.first` are missing; the caller then fetches from `length`.
   */
  append(block: SparseBlock): boolean {
    if (block.first > this.count) return false
    const skip = this.count - block.first
    const added = block.ids.length - skip
    if (added <= 0) return true
    this.reserve(this.count + added)
    for (const name of ROW_NUMBERS) {
      const values = block.numbers[name]?.subarray(skip)
      if (values && (this.numbers[name] || hasAny(values))) (this.numbers[name] ??= grownFloats(new Float64Array(0), this.capacity)).set(values, this.count)
    }
    this.statuses.set(block.status.subarray(skip), this.count)
    this.grades.set(block.grade.subarray(skip), this.count)
    for (let i = skip; i < block.ids.length; i++) {
      this.ids.push(block.ids[i]!)
      this.cases.push(block.cases[block.caseOf[i]!]!)
    }
    for (const [at, message] of Object.entries(block.messages)) {
      if (Number(at) >= skip) this.messages.set(block.first + Number(at), message)
    }
    for (const [at, reasons] of Object.entries(block.gradeReasons)) {
      if (Number(at) >= skip) this.reasons.set(block.first + Number(at), reasons)
    }
    for (const [at, rounds] of Object.entries(block.rounds)) {
      if (Number(at) >= skip) this.passes.set(block.first + Number(at), [rounds])
    }
    this.count += added
    this.revision.value++
    return true
  }

  id(row: number): string {
    return this.ids[row]!
  }

  case(row: number): BenchmarkCase {
    return this.cases[row]!
  }

  status(row: number): Status {
    return STATUSES[this.statuses[row]!]!
  }

  grade(row: number): Grade | undefined {
    return GRADES[this.grades[row]!]
  }

  message(row: number): string | undefined {
    return this.messages.get(row)
  }

  gradeReasons(row: number): readonly string[] {
    return this.reasons.get(row) ?? []
  }

  rounds(row: number): readonly [RoundPasses] | undefined {
    return this.passes.get(row)
  }

  number(row: number, name: RowNumber): number {
    return this.numbers[name]?.[row] ?? NaN
  }

  column(name: RowNumber): Float64Array {
    return (this.numbers[name] ?? this.absent).subarray(0, this.count)
  }

  indexOf(id: string): number | undefined {
    for (; this.indexed < this.count; this.indexed++) this.byId.set(this.ids[this.indexed]!, this.indexed)
    return this.byId.get(id)
  }

  row(i: number): Row {
    const row: Row = { id: this.id(i), case: this.case(i), status: this.status(i) }
    const grade = this.grade(i)
    if (grade) row.grade = grade
    const message = this.messages.get(i)
    if (message !== undefined) row.message = message
    const reasons = this.reasons.get(i)
    if (reasons) row.gradeReasons = reasons
    const rounds = this.passes.get(i)
    if (rounds) row.rounds = rounds
    for (const name of ROW_NUMBERS) {
      const value = this.number(i, name)
      if (!Number.isNaN(value)) row[name] = value
    }
    return row
  }

  /** Makes room for this many rows, which are about to come. */
  expect(rows: number): void {
    if (rows > this.capacity) this.grow(rows)
  }

  private reserve(rows: number): void {
    if (rows > this.capacity) this.grow(Math.max(rows, this.capacity * 2, 64))
  }

  private grow(capacity: number): void {
    this.capacity = capacity
    for (const [name, values] of Object.entries(this.numbers)) this.numbers[name as RowNumber] = grownFloats(values, this.capacity)
    this.absent = grownFloats(this.absent, this.capacity)
    this.statuses = grownBytes(this.statuses, this.capacity)
    this.grades = grownBytes(this.grades, this.capacity)
  }
}

/** What a table or chart shows before there is a session. */
export const NO_ROWS: RowSource = new ResultRows()

/**
 * Results by column, as tables and charts read them; rows stand in the order they were measured and are only appended.
 * Only `version` is reactive: read it in a computed or an effect, then read as many columns as needed.
 * It rises at most ten times a second while a run is going.
 */
export interface RowSource {
  readonly version: number
  readonly length: number
  id(row: number): string
  case(row: number): BenchmarkCase
  status(row: number): Status
  grade(row: number): Grade | undefined
  message(row: number): string | undefined
  /** Why a row has grade C, worst first; empty for other grades. */
  gradeReasons(row: number): readonly string[]
  /** What its interleaved rounds say, for speedups (core/analysis/timing.ts): always the same object. */
  rounds(row: number): readonly [RoundPasses] | undefined
  /** NaN where the result has no such number. */
  number(row: number, name: RowNumber): number
  /** One element per row. A view that the next append may replace; do not keep or change it. */
  column(name: RowNumber): Float64Array
  /** The row of this result, or undefined. */
  indexOf(id: string): number | undefined
  /** The row as an object; for a handful of rows, not for loops over all. */
  row(row: number): Row
}
