import type { Energy } from '../../result'
import { studentQuantile } from '../../stats/significance'
import type { EnergyCell, EnergyVerdict, Verdict } from '../types'
import { ratioByStudent, type LogEstimate, type RatioEstimate } from './ratio'
import { assignVerdicts, type Draft } from './verdict'

/** Energy of a call on one side of a compared case. */
export interface EnergySide extends LogEstimate {
  joulesPerCall: number
  /** What counted it, in words. */
  source: string
}

/** The same verdicts as of times, in the words of energy. */
const VERDICT_OF: Readonly<Record<Verdict, EnergyVerdict>> = { faster: 'less', slower: 'more', same: 'same', ambiguous: 'ambiguous' }

/**
 * One side from the energy of its runs. One run: its interval over windows (measure/energy/windows.ts). Several: the geometric mean, with
 * the run as unit. Undefined where no run has an energy.
 */
export function energySideOf(energies: readonly Energy[]): EnergySide | undefined {
  const [first] = energies
  if (!first) return undefined
  const logs = energies.map(({ joulesPerCall }) => Math.log(joulesPerCall))
  const count = logs.length
  const log = logs.reduce((sum, one) => sum + one, 0) / count
  const found = { joulesPerCall: Math.exp(log), source: first.source, log, runs: count }
  if (count > 1) return { ...found, variance: logs.reduce((sum, one) => sum + (one - log) ** 2, 0) / (count - 1) / count, degrees: count - 1 }
  const degrees = first.windows - 1
  // One window has no spread: its energy stands without an interval.
  if (degrees < 1) return { ...found, variance: NaN, degrees: 1 }
  return { ...found, variance: ((first.highJ - first.joulesPerCall) / first.joulesPerCall / studentQuantile(0.025, degrees)) ** 2, degrees }
}

/** A cell's energy before its verdict. */
export interface EnergyDraft {
  energy: EnergyCell
  draft: Draft
  /** The two sides were counted by different counters. */
  apart?: string
}

/** The energy of a side over that of the baseline; undefined where one of them has none. */
export function energyDraftOf(side: EnergySide | undefined, base: EnergySide | undefined, threshold: number): EnergyDraft | undefined {
  if (!side || !base) return undefined
  const estimate: RatioEstimate = ratioByStudent(side, base)
  const { ratio, interval } = estimate
  const energy: EnergyCell = { ratio, ...(interval ? { low: interval.low, high: interval.high } : {}) }
  return { energy, draft: { cell: {}, time: estimate, threshold }, ...(side.source === base.source ? {} : { apart: `Different counters: ${side.source} here, ${base.source} in the baseline. They include different parts of the machine.` }) }
}

/** Gives all energies of one comparison their verdicts, by the rule of times (verdict.ts) and corrected among themselves. */
export function assignEnergyVerdicts(drafts: readonly EnergyDraft[], threshold: number): void {
  assignVerdicts(drafts.map(({ draft }) => draft), threshold, VERDICT_OF)
  for (const { energy, draft: { cell }, apart } of drafts) {
    const doubts = [cell.doubt, apart].filter((doubt) => doubt !== undefined)
    energy.verdict = apart ? 'ambiguous' : VERDICT_OF[cell.verdict ?? 'ambiguous']
    if (cell.p !== undefined) energy.p = cell.p
    if (cell.adjustedP !== undefined) energy.adjustedP = cell.adjustedP
    if (doubts.length > 0) energy.doubt = doubts.join(' ')
  }
}
