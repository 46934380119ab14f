import type { BenchmarkCase } from '../case'
import { hitRatio, largestLaunch } from '../backend'
import { roundPasses, type RoundPasses } from '../measure/result/rounds'
import { STATUSES, type Grade, type Result, type Status } from '../result'

/**
 * Numbers of a result that tables and charts use. Absent is NaN inside a block and `undefined` in a Row. Histories keep them in
 * this order: new ones go to its end.
 */
export const ROW_NUMBERS = [
  'medianNs', 'ciLowNs', 'ciHighNs', 'madNs', 'p05Ns', 'p25Ns', 'p75Ns', 'p95Ns', 'minNs', 'maxNs', 'meanNs', 'stddevNs',
  'samples', 'bytes', 'flops', 'caseBytes', 'relL2', 'wallMs', 'smClockMhz', 'temperatureC',
  'libraryPeakBytes', 'hostCallNs', 'registers', 'sharedBytes', 'occupancy', 'waves',
  // Interleaved rounds (Result.rounds): the group, and this time over that of its first implementation, which earlier versions read; speedups come from `rounds` of a row.
  'roundsGroup', 'roundsRatio', 'roundsLow', 'roundsHigh',
  // Energy of a call in joules with its interval, mean power in watts, and the time of a call meanwhile.
  'joulesPerCall', 'energyLowJ', 'energyHighJ', 'energyWatts', 'energyCallNs',
  // Hardware counters of a call.
  'instructions', 'cycles', 'l1HitRatio', 'llcHitRatio',
  // Which fresh-process repeat of the sweep it is of.
  'run',
] as const
export type RowNumber = (typeof ROW_NUMBERS)[number]

/** Grades by their code in a block. */
export const GRADES: readonly (Grade | undefined)[] = [undefined, 'A', 'B', 'C']

/**
 * Results by column, without samples: what crosses from main to the page, for a live batch of three as for a saved
 * session of 100,000. Row i is case `cases[caseOf[i]]`; typed arrays all have one element per row.
 */
export interface RowBlock {
  /** Index of the first row within its session. */
  first: number
  ids: string[]
  /** Distinct cases of this block. */
  cases: BenchmarkCase[]
  caseOf: Uint32Array
  /** Index into STATUSES. */
  status: Uint8Array
  /** 0: none, 1: A, 2: B, 3: C. */
  grade: Uint8Array
  numbers: Record<RowNumber, Float64Array>
  /** Messages of the rows that have one, by row index within the block. */
  messages: Record<number, string>
  /** Why rows of grade C have it, worst first, by row index within the block. */
  gradeReasons: Record<number, readonly string[]>
  /** Passes of the rows that were measured in interleaved rounds, by row index within the block. */
  rounds: Record<number, RoundPasses>
}

/** A block for the way from main to the page, where copying one text is far cheaper than copying 20,000 objects. */
export interface PackedBlock extends Omit<RowBlock, 'ids' | 'cases' | 'numbers'> {
  /** JSON of RowBlock's. */
  ids: string
  cases: string
  /** Without those that no row has. */
  numbers: Partial<RowBlock['numbers']>
}

/** A block without the numbers that no row has. */
export interface SparseBlock extends Omit<RowBlock, 'numbers'> {
  numbers: Partial<RowBlock['numbers']>
}

export function packBlock(block: RowBlock): PackedBlock {
  const numbers = Object.fromEntries(ROW_NUMBERS.filter((name) => hasAny(block.numbers[name])).map((name) => [name, block.numbers[name]]))
  return { ...block, ids: JSON.stringify(block.ids), cases: JSON.stringify(block.cases), numbers }
}

export const unpackBlock = (block: PackedBlock): SparseBlock => ({ ...block, ids: JSON.parse(block.ids) as string[], cases: JSON.parse(block.cases) as BenchmarkCase[] })

/** Whether a row has a number of this column. */
export function hasAny(column: Float64Array): boolean {
  for (let i = 0; i < column.length; i++) if (!Number.isNaN(column[i]!)) return true
  return false
}

/** One row of a block, as components use it. */
export interface Row extends Partial<Record<RowNumber, number>> {
  id: string
  case: BenchmarkCase
  status: Status
  grade?: Grade
  message?: string
  /** Why the grade is C, worst first. */
  gradeReasons?: readonly string[]
  /** What interleaved rounds say of it: one of each run that it stands for. */
  rounds?: readonly RoundPasses[]
}

/** The numbers of a result that go into a block; absent ones are NaN. */
export function rowNumbersOf(result: Result): Record<RowNumber, number> {
  const s = result.summary
  const states = result.deviceStates ?? []
  const launch = largestLaunch(result.launches)
  const mean = (values: (number | undefined)[]) => {
    const known = values.filter((v): v is number => v !== undefined)
    return known.length ? known.reduce((a, b) => a + b, 0) / known.length : NaN
  }
  return {
    medianNs: s?.medianNs ?? NaN, ciLowNs: s?.ciLowNs ?? NaN, ciHighNs: s?.ciHighNs ?? NaN, madNs: s?.madNs ?? NaN,
    p05Ns: s?.p05Ns ?? NaN, p25Ns: s?.p25Ns ?? NaN, p75Ns: s?.p75Ns ?? NaN, p95Ns: s?.p95Ns ?? NaN,
    minNs: s?.minNs ?? NaN, maxNs: s?.maxNs ?? NaN, meanNs: s?.meanNs ?? NaN, stddevNs: s?.stddevNs ?? NaN,
    samples: s?.count ?? 0, bytes: result.bytes, flops: result.flops, caseBytes: result.caseBytes ?? NaN,
    relL2: result.verification?.relL2 ?? NaN, wallMs: result.wallMs,
    smClockMhz: mean(states.map((x) => x.state.smClockMhz)), temperatureC: mean(states.map((x) => x.state.temperatureC)),
    libraryPeakBytes: result.libraryPeakBytes ?? NaN, hostCallNs: result.hostCallNs ?? NaN,
    registers: launch?.registers ?? NaN, sharedBytes: launch?.sharedBytes ?? NaN, occupancy: launch?.occupancy ?? NaN, waves: launch?.waves ?? NaN,
    roundsGroup: result.rounds?.group ?? NaN, roundsRatio: result.rounds?.ratio?.ratio ?? NaN, roundsLow: result.rounds?.ratio?.low ?? NaN, roundsHigh: result.rounds?.ratio?.high ?? NaN,
    ...energyNumbers(result),
    instructions: result.counters?.instructions ?? NaN, cycles: result.counters?.cycles ?? NaN,
    l1HitRatio: hitRatio(result.counters?.l1Reads, result.counters?.l1Misses) ?? NaN, llcHitRatio: hitRatio(result.counters?.llcReads, result.counters?.llcMisses) ?? NaN,
    run: result.run ?? NaN,
  }
}

function energyNumbers({ energy }: Pick<Result, 'energy'>) {
  return { joulesPerCall: energy?.joulesPerCall ?? NaN, energyLowJ: energy?.lowJ ?? NaN, energyHighJ: energy?.highJ ?? NaN, energyWatts: energy?.watts ?? NaN, energyCallNs: energy && energy.calls > 0 ? (energy.seconds * 1e9) / energy.calls : NaN }
}

/** A block of these results; `first` is the index of the first within its session. */
export function blockOf(results: readonly Result[], first: number): RowBlock {
  const block = emptyBlock(results.length, first)
  const index = new Map<string, number>()
  results.forEach((result, i) => {
    const key = JSON.stringify(result.case)
    let at = index.get(key)
    if (at === undefined) {
      at = block.cases.push(result.case) - 1
      index.set(key, at)
    }
    block.ids[i] = result.id
    block.caseOf[i] = at
    block.status[i] = STATUSES.indexOf(result.status)
    block.grade[i] = GRADES.indexOf(result.grade)
    const numbers = rowNumbersOf(result)
    for (const name of ROW_NUMBERS) block.numbers[name][i] = numbers[name]
    if (result.message !== undefined) block.messages[i] = result.message
    if (result.grade === 'C' && result.gradeReasons?.length) block.gradeReasons[i] = result.gradeReasons
    const rounds = roundPasses(result)
    if (rounds) block.rounds[i] = rounds
  })
  return block
}

/** A block of `count` rows to be filled. */
export function emptyBlock(count: number, first: number): RowBlock {
  const numbers = Object.fromEntries(ROW_NUMBERS.map((name) => [name, new Float64Array(count).fill(NaN)])) as Record<RowNumber, Float64Array>
  return { first, ids: new Array<string>(count), cases: [], caseOf: new Uint32Array(count), status: new Uint8Array(count), grade: new Uint8Array(count), numbers, messages: {}, gradeReasons: {}, rounds: {} }
}

/** Row i of a block. */
export function rowAt(block: SparseBlock, i: number): Row {
  const row: Row = { id: block.ids[i]!, case: block.cases[block.caseOf[i]!]!, status: STATUSES[block.status[i]!]! }
  const grade = GRADES[block.grade[i]!]
  if (grade) row.grade = grade
  const message = block.messages[i]
  if (message !== undefined) row.message = message
  const reasons = block.gradeReasons[i]
  if (reasons) row.gradeReasons = reasons
  const rounds = block.rounds[i]
  if (rounds) row.rounds = [rounds]
  for (const name of ROW_NUMBERS) {
    const value = block.numbers[name]?.[i] ?? NaN
    if (!Number.isNaN(value)) row[name] = value
  }
  return row
}
