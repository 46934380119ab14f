import type { CompareAxis, CompareCell, Comparison } from '@core/compare'
import type { NoiseFloor } from '@core/session/types'
import type { BenchmarkCase } from '@core/case'
import { ABSENT, formatPercent, formatRatio, formatTime } from '@core/units'
import { shapeText, variantText } from '../../components/results-table/columns'

/** A verdict as shown: a sign, a word and a tone, so that colour is never alone. */
export interface VerdictLook {
  sign: string
  word: string
  tone: string
}

export const LOOKS: Readonly<Record<NonNullable<CompareCell['verdict']>, VerdictLook>> = {
  faster: { sign: '▲', word: 'faster', tone: 'text-good' },
  slower: { sign: '▼', word: 'slower', tone: 'text-danger' },
  same: { sign: '=', word: 'same', tone: 'text-muted' },
  ambiguous: { sign: '?', word: 'unclear', tone: 'text-warning' },
}

export const lookOf = (cell: CompareCell): VerdictLook | undefined => (cell.verdict ? LOOKS[cell.verdict] : undefined)

/** Places after the point that show a ratio to three digits: three, and more below 0.1. */
export const ratioPlaces = (ratio: number): number => (ratio < 0.01 ? 5 : ratio < 0.1 ? 4 : 3)

/** `0.842x` or `0.0842x`, and its interval in words with the places of its lower end. */
export const ratioText = ({ ratio }: Pick<CompareCell, 'ratio'>): string => (ratio === undefined ? ABSENT : `${ratio.toFixed(ratioPlaces(ratio))}x`)
/** What a ratio lacks after its end so that the points of a column are in line, whose longest has so many places. */
export const ratioPad = (ratio: number | undefined, places: number): string => (ratio === undefined ? '' : '0'.repeat(Math.max(0, places - ratioPlaces(ratio))))
function rangeText(low: number | undefined, high: number | undefined): string {
  if (low === undefined || high === undefined) return ''
  const places = ratioPlaces(low)
  return `${low.toFixed(places)} to ${high.toFixed(places)}`
}
export const intervalText = (cell: Pick<CompareCell, 'ratioLow' | 'ratioHigh'>): string => rangeText(cell.ratioLow, cell.ratioHigh)

/** `A`, or `A → B` where the baseline's grade is another. */
export function gradeText(cell: CompareCell, base: CompareCell | null | undefined): string {
  if (!cell.grade && !base?.grade) return ABSENT
  return cell.grade === base?.grade ? cell.grade! : `${base?.grade ?? ABSENT} → ${cell.grade ?? ABSENT}`
}
export const gradeHint = (cell: CompareCell, base: CompareCell | null | undefined): string => `Baseline ${base?.grade ?? 'without grade'}, this side ${cell.grade ?? 'without grade'}`

/** What tells the rows of a comparison apart, first what is computed, then who computes it; along an axis without what the columns say. */
export function caseTexts(c: BenchmarkCase, axis: CompareAxis | undefined): { what: string; who: string } {
  const who = [...(axis === 'impl' || axis === 'backend' ? [] : [c.backend, c.impl]), ...(axis === 'mode' ? [] : [c.mode]), ...(axis === 'threads' || c.threads === undefined ? [] : [`${c.threads}t`])]
  return { what: [c.op, variantText(c), shapeText(c), ...(axis === 'dtype' ? [] : [c.dtype])].filter(Boolean).join(' '), who: who.join(' ') }
}

/** Name of side i: its value of the axis, else its session. */
export const sideName = ({ sessions }: Comparison, i: number): string => sessions[i]?.value ?? sessions[i]?.name ?? ''

type Row = Comparison['rows'][number]

/** Noise floors of the devices behind side i of a row: the baseline's, and where devices are compared the side's own. */
function floorsOf({ noiseFloors, sessions }: Comparison, row: Row, i: number): NoiseFloor[] {
  const named = sessions[i]?.value?.split(' ')[0]
  return noiseFloors.filter(({ backend, device }) => (backend === row.case.backend && device === row.case.device) || device === named || backend === named)
}

/** The largest noise floor of the devices behind side i of a row, where the effect that got a verdict lies below it. */
export function floorAbove(comparison: Comparison, row: Row, i: number): NoiseFloor | undefined {
  const cell = row.cells[i]
  if (cell?.ratio === undefined || (cell.verdict !== 'faster' && cell.verdict !== 'slower')) return undefined
  const away = Math.abs(cell.ratio - 1)
  return floorsOf(comparison, row, i).filter((floor) => floor.ratioP95 > away).sort((x, y) => y.ratioP95 - x.ratioP95)[0]
}

export const floorWarning = (floor: NoiseFloor): string => `Below the noise floor of ${floor.backend} ${floor.deviceName}: cases compared with themselves differed by up to ${formatPercent(floor.ratioP95)}, leaving out the worst 5 %.`

export interface Fact {
  name: string
  value: string
  about?: string
}

/** All that is known of one compared cell, for the details below the table. */
export function cellFacts(cell: CompareCell, base: CompareCell): Fact[] {
  const facts: Fact[] = [
    { name: 'Medians', value: `${formatTime(cell.medianNs)} against ${formatTime(base.medianNs)}` },
    { name: 'Ratio', value: `${ratioText(cell)}${intervalText(cell) ? `, 95 % interval ${intervalText(cell)}` : ', no interval: too few samples'}`, about: 'Median divided by the baseline’s median' },
  ]
  if (cell.adjustedP !== undefined) facts.push({ name: 'Adjusted p', value: cell.adjustedP < 0.001 ? '< 0.001' : cell.adjustedP.toFixed(3), about: 'Chance of a ratio this far beyond the threshold without a real difference, corrected for the number of cells (Benjamini-Hochberg); up to 0.05 counts' })
  if (cell.cyclesRatio !== undefined) facts.push({ name: 'In SM cycles', value: `${formatRatio(cell.cyclesRatio)}${cell.cyclesLow === undefined ? '' : `, 95 % interval ${rangeText(cell.cyclesLow, cell.cyclesHigh)}`}`, about: 'The same ratio in clock cycles, which a lower clock does not change' })
  if (cell.quads !== undefined) facts.push({ name: 'Interleaved (ABBA)', value: `${cell.quads} ABBA quads`, about: 'Both sides measured in the order A B B A, so that drift of the machine affects both equally. The ratio is of these; the medians are of the session' })
  if (cell.grade || base.grade) facts.push({ name: 'Grades', value: `${cell.grade ?? 'none'} against ${base.grade ?? 'none'}`, about: 'How clean the samples of both sides are: A clean and converged, B noisy, C throttled, disturbed or not converged' })
  if (cell.runs !== undefined) facts.push({ name: 'Runs', value: `${cell.runs} against ${cell.baselineRuns ?? 1}`, about: 'Fresh-process repeats; the interval holds how they differ' })
  return facts
}

/** The facts of side i of a row in a few lines, for the pointer. */
export function hoverText(comparison: Comparison, row: Row, i: number): string {
  const [cell, base] = [row.cells[i], row.cells[0]]
  if (!cell || !base) return ''
  const look = lookOf(cell)
  const floor = floorAbove(comparison, row, i)
  return [look ? `${look.sign} ${look.word}` : '', ...cellFacts(cell, base).map(({ name, value }) => `${name}: ${value}`), cell.doubt ?? '', floor ? floorWarning(floor) : ''].filter(Boolean).join('\n')
}
