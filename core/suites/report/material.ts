import { LibraryTimes, RATINGS, type Rating } from '../../analysis/ratings'
import { libraryOf } from '../../analysis/ratings/libraries'
import { workOf } from '../../analysis/size'
import { overCases } from '../../analysis/timing'
import type { BenchmarkCase } from '../../case'
import { operationText, shapeText } from '../../case-words'
import { statusWord, type Result } from '../../result'
import { roofFinder, roofline, type RooflinePoint } from '../../roofline/roofline'
import { blockOf, rowAt, type Row } from '../../session/rows'
import type { Ceiling } from '../../session/types'
import { median } from '../../stats/descriptive'
import { ABSENT, chooseTimeUnit, formatIn, type Unit } from '../../units'
import type { Suite } from '../types'

/** A cell: its text, a remark beside it such as a rating, the id of the result that it is about, and why its figure is unreliable. */
export interface SuiteCell {
  text: string
  note?: string
  result?: string
  doubt?: string
}

/** A column: numbers stand right, names in the fixed-width face, sentences may wrap. */
export interface SuiteHead {
  title: string
  numeric?: boolean
  mono?: boolean
  wide?: boolean
}

/** One part of a suite's report: a sentence, a table, or both. */
export interface SuitePart {
  title: string
  /** In a list of the parts, where the title is long. */
  short?: string
  text?: string
  table?: { heads: readonly SuiteHead[]; rows: readonly (readonly SuiteCell[])[] }
}

/** What a report uses of a result. */
export type SuiteResult = Row

/** Results as a report uses them. */
export function suiteResults(results: readonly Result[]): SuiteResult[] {
  const block = blockOf(results, 0)
  return results.map((_, i) => rowAt(block, i))
}

/** A result that passed verification and has a time. */
export type Measured = SuiteResult & { medianNs: number }
const isMeasured = (result: SuiteResult): result is Measured => result.status === 'ok' && result.medianNs !== undefined

/** Everything the parts of a report are made of. */
export class Material {
  /** The valid results, one for each case (overCases). */
  readonly ok: readonly Measured[]
  readonly #times = new LibraryTimes()
  readonly #points = new Map<string, RooflinePoint | undefined>()
  /** Results without a time, by work and implementation. */
  readonly #failed = new Map<string, SuiteResult>()
  /** Names of implementations, in the order measured. */
  readonly impls: readonly string[]

  constructor(readonly suite: Suite, readonly results: readonly SuiteResult[], readonly ceilings: readonly Ceiling[]) {
    this.ok = overCases(results.filter(isMeasured))
    for (const result of results) if (!isMeasured(result)) this.#failed.set(`${workOf(result.case)}|${implName(result.case)}`, result)
    for (const result of this.ok) this.#times.add(result.case, result)
    const roofs = roofFinder(ceilings)
    for (const result of this.ok) this.#points.set(result.id, roofline({ bytes: result.bytes ?? 0, flops: result.flops ?? 0, medianNs: result.medianNs }, roofs(result.case)))
    this.impls = [...new Set(this.ok.map(({ case: c }) => implName(c)))]
  }

  point(result: Measured): RooflinePoint | undefined {
    return this.#points.get(result.id)
  }

  /** Share of the measured memory bandwidth; undefined where no ceiling is known. */
  bandwidthShare(result: Measured): number | undefined {
    const point = this.point(result)
    return point?.efficiency !== undefined && point.bound !== 'compute' ? point.efficiency : undefined
  }

  /** How many times as fast as the suite's library; undefined of the library itself and where it was not measured. */
  speedup(result: Measured): number | undefined {
    if (libraryOf(result.case) === this.suite.against) return undefined
    const ns = this.#times.fastestNs(result.case, result, this.suite.against)
    return ns === undefined ? undefined : ns / result.medianNs
  }

  rating(result: Measured): Rating {
    const scale = RATINGS.find(({ id }) => id === this.suite.rating)!
    return scale.rate({ case: result.case, medianNs: result.medianNs, efficiency: this.point(result)?.efficiency, bandwidthShare: this.bandwidthShare(result), fastestNs: (library) => this.#times.fastestNs(result.case, result, library) })
  }

  /** The cell of an implementation that has no time for the work of a case: what came of it, or a dash where it was not measured. */
  without(c: BenchmarkCase, impl: string): SuiteCell {
    const failed = this.#failed.get(`${workOf(c)}|${impl}`)
    return failed ? { text: statusWord(failed.status), result: failed.id } : text(ABSENT)
  }

  /** The results that the suite judges: not those of the libraries that others are held against. */
  judged(): Measured[] {
    return this.ok.filter(({ case: c }) => libraryOf(c) === undefined)
  }

  /** Results of the same work side by side, in the order measured. */
  byWork(): Measured[][] {
    const groups = new Map<string, Measured[]>()
    for (const result of this.ok) groups.set(workOf(result.case), [...(groups.get(workOf(result.case)) ?? []), result])
    return [...groups.values()]
  }
}

/** What a column of an implementation is called. */
export const implName = (c: BenchmarkCase): string => (c.backend === 'cpu' || c.backend === 'python' ? c.impl : c.backend) + (c.device.startsWith('python') && c.backend === 'python' && /cuda/.test(c.device) ? ' (GPU)' : '')

/** `layer_norm 4096x768` */
export const words = (c: BenchmarkCase): string => `${operationText(c)} ${shapeText(c)}`

/** A cell of text alone. */
export const text = (value: string): SuiteCell => ({ text: value })

/** Cells that are about one result lead to it; a dash leads nowhere. */
export const about = ({ id }: Pick<SuiteResult, 'id'>) => (value: string): SuiteCell => (value === ABSENT ? text(value) : { text: value, result: id })

/** Writes times (ns) of one row in one unit, that of their median: `12.1 µs`. */
export function timesWriter(ns: readonly number[]): { unit: Unit; number: (ns: number) => string; time: (ns: number) => string } {
  const unit = chooseTimeUnit(ns.length === 0 ? undefined : median(ns))
  const number = (value: number) => formatIn(value, unit, 3)
  return { unit, number, time: (value) => `${number(value)} ${unit.name}` }
}

/** Samples vary by more than this share of their mean: a red flag of the Genesis suite. */
const HIGH_VARIATION = 0.2

/** Why the figure of a result is unreliable, in two words; undefined where it is not. */
export function doubtOf({ meanNs, stddevNs, grade }: SuiteResult): string | undefined {
  if (meanNs && stddevNs && stddevNs / meanNs > HIGH_VARIATION) return 'high variation'
  return grade === 'C' ? 'grade C' : undefined
}

/** What a dash stands for, where one of the cells is a dash. */
export const dashText = (rows: readonly (readonly SuiteCell[])[], reason: string): string => (rows.some((row) => row.some((cell) => cell.text === ABSENT)) ? ` ${ABSENT} = ${reason}.` : '')

/** The usual reason. */
export const NOT_MEASURED = 'not measured in this session'

/** A figure of one result. */
export interface RatedResult {
  value: number
  result: string
}

/** The cell of the lowest or highest of these figures, which leads to its result. There must be one. */
export const lowest = (all: readonly RatedResult[], write: (value: number) => string): SuiteCell => cellOf(all.reduce((a, b) => (b.value < a.value ? b : a)), write)
export const highest = (all: readonly RatedResult[], write: (value: number) => string): SuiteCell => cellOf(all.reduce((a, b) => (b.value > a.value ? b : a)), write)
const cellOf = ({ value, result }: RatedResult, write: (value: number) => string): SuiteCell => ({ text: write(value), result })
