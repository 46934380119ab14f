import type { BenchmarkCase } from '../case'
import type { Status } from '../result'
import { geometricMean, median } from '../stats/descriptive'
import { formatPercent } from '../units'
import { INTERLEAVE, type PairRatios } from './ratio/interleave'
import { isMeasured, measuredOf, whyNotMeasured, type Entry, type Measured, type ResultOf } from './measured'
import { assignEnergyVerdicts, energyDraftOf, energySideOf, type EnergyDraft, type EnergySide } from './ratio/energy'
import { ratioOf, sideOf, type RatioEstimate, type Side } from './ratio/ratio'
import { ratioGrade, roundsRatioOver } from './ratio/rounds'
import { thresholdFor, THRESHOLD, type Thresholds, type CompareCell, type Comparison } from './types'
import { assignVerdicts, type Draft } from './ratio/verdict'

/** Cases of all sides that belong together; `entries[0]` is the baseline's. */
export interface Joined {
  id: string
  entries: (Entry | undefined)[]
}

export interface JoinContext {
  /** Sides, the baseline included. */
  sides: number
  thresholds: Thresholds
  resultOf: ResultOf
  /** Whether cycles of the two sides count the same thing: the same kind of device. */
  comparableCycles(side: number, c: BenchmarkCase, base: BenchmarkCase): boolean
  /** Interleaved measurements of pairs, which replace what the sides were measured one by one. */
  pairs?: PairRatios
  /** `session`, `side`: what the user would call one. */
  word: string
}

/** A case that has no partner, or none that can be ranked. */
export interface Unmatched {
  side: number
  case: BenchmarkCase
  reason: string
  status?: Status
}

/** Seeds of the resampling: sides of a row are drawn independently of their baseline. */
const BASE_SEED = 0x0ba5e
const SIDE_SEED = 0x51de5

/**
 * Compares the sides of each row with its baseline and gives verdicts over all cells. Wrong, failed and skipped results
 * are never ranked; they go to `unmatched` with the reason. One step per row.
 */
export function* compareJoined(joined: readonly Joined[], context: JoinContext): Steps<Pick<Comparison, 'rows' | 'overall'> & { unmatched: Unmatched[] }> {
  const rows: Comparison['rows'] = []
  const drafts: Draft[] = []
  const energies: EnergyDraft[] = []
  const unmatched: Unmatched[] = []
  const { word } = context
  for (const [done, { id, entries }] of joined.entries()) {
    yield { done, total: joined.length }
    const [base, ...others] = entries
    const leave = (side: number, entry: Entry, reason: string) => unmatched.push({ side, case: entry.case, reason, ...statusOf(entry) })
    if (!base) {
      others.forEach((entry, i) => entry && leave(i + 1, entry, entry.rows.some(isMeasured) ? 'The baseline does not have this case.' : `The baseline does not have this case, and ${whyNotMeasured(entry)}.`))
      continue
    }
    const baseline = usable(base, context)
    if (typeof baseline === 'string') {
      leave(0, base, baseline)
      continue
    }
    const partners = others.map((entry, i) => {
      const measured = entry && usable(entry, context)
      if (typeof measured === 'string') leave(i + 1, entry!, measured)
      return typeof measured === 'object' ? measured : undefined
    })
    if (!partners.some(Boolean)) {
      if (others.every((entry) => entry === undefined)) leave(0, base, `No other ${word} has this case.`)
      continue
    }
    const sides = new Sides(baseline, BASE_SEED)
    const cells = partners.map((measured, i) => {
      if (!measured) return null
      const threshold = thresholdFor(context.thresholds, base.case.op)
      const { cell, ...draft } = draftOf(measured, baseline, sides, context, i + 1)
      drafts.push({ ...draft, cell, threshold })
      const energy = energyDraftOf(energyOf(measured), sides.energy, threshold)
      if (energy) {
        cell.energy = energy.energy
        energies.push(energy)
      }
      return cell
    })
    rows.push({ caseId: id, case: base.case, cells: [cellOf(baseline, sides.time), ...cells] })
  }
  assignEnergyVerdicts(energies, context.thresholds.threshold ?? THRESHOLD)
  assignVerdicts(drafts, context.thresholds.threshold ?? THRESHOLD)
  return { rows, unmatched, overall: Array.from({ length: context.sides }, (_, side) => (side === 0 ? null : overallOf(rows.map((row) => row.cells[side])))) }
}

/** How a case ended that has no right result. */
function statusOf(entry: Entry): { status?: Status } {
  const last = entry.rows.at(-1)
  return last && !entry.rows.some(isMeasured) ? { status: last.status } : {}
}

/** The entry with its samples, or why it is left out. */
function usable(entry: Entry, { resultOf }: JoinContext): Measured | string {
  if (!entry.rows.some(isMeasured)) return `Left out: ${whyNotMeasured(entry)}.`
  return measuredOf(entry, resultOf) ?? 'Left out: it was measured in interleaved blocks only, which count for their pair.'
}

/** What resampling says of one side, each drawn once however many others it is compared with. */
class Sides {
  readonly time: Side | undefined
  #cycles: { side: Side | undefined } | undefined

  constructor(
    private readonly measured: Measured,
    private readonly seed: number,
  ) {
    this.time = sideOf(measured.runs.map((run) => run.ns), seed)
  }

  get cycles(): Side | undefined {
    const runs = this.measured.runs.flatMap((run) => (run.cycles ? [run.cycles] : []))
    this.#cycles ??= { side: runs.length === this.measured.runs.length ? sideOf(runs, this.seed) : undefined }
    return this.#cycles.side
  }

  get energy(): EnergySide | undefined {
    return energyOf(this.measured)
  }

  get mhz(): number | undefined {
    return median(this.measured.runs.flatMap((run) => (run.clocksMhz ? Array.from(run.clocksMhz) : [])))
  }
}

/** Energy of a call on a side, from the runs that have it. */
const energyOf = ({ results }: Measured): EnergySide | undefined => energySideOf(results.flatMap(({ energy }) => energy ?? []))

/** Result and median of a side; over several runs the geometric mean of their medians, which the speedup uses. */
function cellOf(measured: Measured, side: Side | undefined): CompareCell {
  const { row, runs } = measured
  const joulesPerCall = energyOf(measured)?.joulesPerCall
  return { resultId: row.id, medianNs: side && runs.length > 1 ? Math.exp(side.log) : row.medianNs, ...(row.grade ? { grade: row.grade } : {}), ...(joulesPerCall === undefined ? {} : { joulesPerCall }) }
}

function draftOf(measured: Measured, baseline: Measured, base: Sides, context: JoinContext, at: number): Draft & { cell: CompareCell } {
  const side = new Sides(measured, SIDE_SEED)
  const cell = cellOf(measured, side.time)
  // An imported result may hold a summary without samples: its ratio stands, without an interval.
  let time: RatioEstimate = side.time && base.time ? ratioOf(side.time, base.time) : { ratio: measured.row.medianNs / baseline.row.medianNs }
  const comparable = context.comparableCycles(at, measured.row.case, baseline.row.case)
  let cycles = comparable ? cyclesApart(side, base) : undefined

  const blocks = context.pairs?.of(baseline.row.case, measured.row.case)
  const enough = blocks && blocks.quads >= INTERLEAVE.minQuads ? blocks : undefined
  // Few rounds still count: the answer of the session uses them too, and a ratio of medians does not cancel changes of the host.
  const rounds = enough ? undefined : roundsRatioOver(measured.rounds, baseline.rounds)
  const live = enough ?? rounds
  if (live) {
    if (live.quads > 0) cell.quads = live.quads
    time = live
    if (rounds && rounds.runs > 1) cell.runs = cell.baselineRuns = rounds.runs
    cycles = comparable && live.cycles ? { estimate: live.cycles, ...clockWords(live.cycles.ratio / live.ratio) } : undefined
  } else if (measured.runs.length > 1 || baseline.runs.length > 1) {
    cell.runs = measured.runs.length
    cell.baselineRuns = baseline.runs.length
  }

  cell.speedup = 1 / time.ratio
  const graded = ratioGrade(time, time === live ? [] : [measured.row.grade, baseline.row.grade])
  cell.speedupGrade = graded.grade
  cell.speedupGradeReason = graded.reason
  if (time.interval) {
    cell.speedupLow = 1 / time.interval.high
    cell.speedupHigh = 1 / time.interval.low
  }
  if (!cycles) return { cell, time }
  cell.cyclesSpeedup = 1 / cycles.estimate.ratio
  if (cycles.estimate.interval) {
    cell.cyclesLow = 1 / cycles.estimate.interval.high
    cell.cyclesHigh = 1 / cycles.estimate.interval.low
  }
  return { cell, time, cycles }
}

function cyclesApart(side: Sides, base: Sides): Draft['cycles'] {
  const [sideMhz, baseMhz] = [side.mhz, base.mhz]
  if (!side.cycles || !base.cycles || !sideMhz || !baseMhz) return undefined
  return { estimate: ratioOf(side.cycles, base.cycles), clockRatio: sideMhz / baseMhz, clocks: `the clock was ${Math.round(sideMhz)} MHz here and ${Math.round(baseMhz)} MHz in the baseline` }
}

const clockWords = (clockRatio: number) => ({ clockRatio, clocks: `the clock was ${formatPercent(Math.abs(clockRatio - 1))} ${clockRatio < 1 ? 'lower' : 'higher'} here than in the baseline` })

function overallOf(cells: readonly (CompareCell | null | undefined)[]): { speedup: number; cases: number } | null {
  const speedups = cells.flatMap((cell) => (cell?.speedup === undefined ? [] : [cell.speedup]))
  const speedup = geometricMean(speedups)
  return speedup === undefined ? null : { speedup, cases: speedups.length }
}

/** How far a long piece of work is. */
export interface Progress {
  done: number
  total: number
}

/** Long work in steps of a few milliseconds, so that whoever drives it can do other things in between, or give it up. */
export type Steps<T> = Generator<Progress, T, void>

/** Does all the work at once. */
export function drain<T>(steps: Generator<unknown, T, void>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
