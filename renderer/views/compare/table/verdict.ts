import { energyRangeText, energyRatioText, energyVerdictText, pText, sideText, VERDICT_WORDS, type CompareAxis, type CompareCell, type Comparison, type EnergyVerdict } from '@core/compare'
import { shortHardware } from '@core/session/hardware-name'
import type { NoiseFloor } from '@core/session/types'
import type { BenchmarkCase } from '@core/case'
import { ABSENT, formatEnergy, formatPercent, formatRatio, formatRatioRange, formatTime, localNumber, ratioPlaces } from '@core/units'
import { shapeText, variantText } from '@core/case-words'

/** A verdict as shown: a sign, a word and a tone, so that colour is never alone. */
export interface VerdictLook {
  sign: string
  word: string
  tone: string
}

export const LOOKS: Readonly<Record<NonNullable<CompareCell['verdict']>, VerdictLook>> = {
  faster: { ...VERDICT_WORDS.faster, tone: 'text-good' },
  slower: { ...VERDICT_WORDS.slower, tone: 'text-danger' },
  same: { ...VERDICT_WORDS.same, tone: 'text-muted' },
  ambiguous: { ...VERDICT_WORDS.ambiguous, tone: 'text-warning' },
}

export const lookOf = (cell: CompareCell): VerdictLook | undefined => (cell.verdict ? LOOKS[cell.verdict] : undefined)

/** `1.188x` or `0.0842x`: the speedup over the baseline. */
export const speedupText = ({ speedup }: Pick<CompareCell, 'speedup'>): string => formatRatio(speedup)
/** `0.909x`: the energy of a call over the baseline's. */
export const energyText = ({ energy }: { energy?: { ratio: number } | undefined }): string => energyRatioText(energy)
export const ENERGY_TONES: Readonly<Record<EnergyVerdict, string>> = { less: 'text-good', more: 'text-danger', same: 'text-muted', ambiguous: 'text-warning' }
/** Zeros that align the decimal point of a speedup in a column whose longest number has so many places. */
export const speedupPad = (speedup: number | undefined, places: number): string => (speedup === undefined ? '' : '0'.repeat(Math.max(0, places - ratioPlaces(speedup))))
const rangeText = (low: number | undefined, high: number | undefined): string => (low === undefined || high === undefined ? '' : formatRatioRange(low, high))
export const intervalText = (cell: Pick<CompareCell, 'speedupLow' | 'speedupHigh'>): string => rangeText(cell.speedupLow, cell.speedupHigh)

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

/** Name of side i where there is little room: its value of the axis, else its session. */
export const sideName = (comparison: Comparison, i: number): string => shortHardware(sideText(comparison, i))

type Row = Comparison['rows'][number]

/** Noise floors of the devices behind side i of a row: the baseline's, and where devices are compared the side's own. */
function floorsOf({ noiseFloors, sessions }: Comparison, row: Row, i: number): NoiseFloor[] {
  const named = sessions[i]?.value?.split(' ')[0]
  return noiseFloors.filter(({ backend, device }) => (backend === row.case.backend && device === row.case.device) || device === named || backend === named)
}

/** The largest noise floor of the devices behind side i of a row, where the effect that got a verdict lies below it. */
export function floorAbove(comparison: Comparison, row: Row, i: number): NoiseFloor | undefined {
  const cell = row.cells[i]
  if (cell?.speedup === undefined || (cell.verdict !== 'faster' && cell.verdict !== 'slower')) return undefined
  const away = Math.abs(1 / cell.speedup - 1)
  return floorsOf(comparison, row, i).filter((floor) => floor.ratioP95 > away).sort((x, y) => y.ratioP95 - x.ratioP95)[0]
}

export const floorWarning = (floor: NoiseFloor): string => `Below the noise floor of ${floor.backend} ${shortHardware(floor.deviceName)}: 95 % of identical cases differed by less than ${formatPercent(floor.ratioP95)}.`

export interface Fact {
  name: string
  value: string
  about?: string
}

/** All that is known of one compared cell, for the details below the table. */
export function cellFacts(cell: CompareCell, base: CompareCell): Fact[] {
  const facts: Fact[] = [
    { name: 'Medians', value: `${formatTime(cell.medianNs)}, baseline ${formatTime(base.medianNs)}` },
    { name: 'Speedup', value: `${speedupText(cell)}${intervalText(cell) ? `, 95 % CI ${intervalText(cell)}` : `, no CI: too few ${cell.quads === undefined ? 'samples' : 'rounds'}`}`, about: cell.quads === undefined ? 'Baseline median divided by this median: above 1 is faster' : 'From the interleaved measurements, not from the medians: above 1 is faster' },
  ]
  if (cell.speedupGrade) facts.push({ name: 'Grade of the speedup', value: `${cell.speedupGrade}: ${localNumber(cell.speedupGradeReason ?? '')}`, about: 'A: 95 % CI within ±1 %. B: within ±3 %. C: wider. A speedup from interleaved rounds does not depend on the grades of the two times' })
  if (cell.p !== undefined) facts.push({ name: 'p', value: localNumber(pText(cell.p)), about: 'Probability of a speedup this far beyond the threshold without a real difference, for this case alone' })
  if (cell.adjustedP !== undefined) facts.push({ name: 'Corrected p', value: localNumber(pText(cell.adjustedP)), about: 'p corrected for the number of cases (Benjamini-Hochberg); a verdict needs at most 0.05' })
  if (cell.cyclesSpeedup !== undefined) facts.push({ name: 'In SM cycles', value: `${formatRatio(cell.cyclesSpeedup)}${cell.cyclesLow === undefined ? '' : `, 95 % CI ${rangeText(cell.cyclesLow, cell.cyclesHigh)}`}`, about: 'The speedup in clock cycles, which do not depend on the clock frequency' })
  if (cell.quads !== undefined) facts.push({ name: 'Interleaved', value: `${cell.quads} ABBA quads`, about: 'Both sides measured in the order A, B, B, A, so that drift affects both equally. The speedup comes from these; the medians come from the session' })
  if (cell.grade || base.grade) facts.push({ name: 'Grades', value: `${cell.grade ?? 'none'}, baseline ${base.grade ?? 'none'}`, about: 'A: converged, low noise. B: noisy. C: throttled, disturbed or not converged' })
  if (cell.runs !== undefined) facts.push({ name: 'Runs', value: `${cell.runs}, baseline ${cell.baselineRuns ?? 1}`, about: 'Repeats in fresh processes; the CI includes the variation between runs' })
  if (cell.joulesPerCall !== undefined) facts.push({ name: 'Energy per call', value: `${formatEnergy(cell.joulesPerCall)}${base.joulesPerCall === undefined ? '' : `, baseline ${formatEnergy(base.joulesPerCall)}`}` })
  if (cell.energy) facts.push({ name: 'Energy ratio', value: `${energyRatioText(cell.energy)}, 95 % CI ${energyRangeText(cell.energy)}` + (cell.energy.verdict ? `, ${energyVerdictText(cell.energy.verdict)}` : ''), about: cell.energy.doubt ?? 'Energy of a call divided by the baseline\'s: below 1 is less. Judged by the same threshold and correction as times' })
  return facts
}

/** Why a cell is unclear, with numbers in the locale; main words it without one. */
export const doubtText = ({ doubt }: Pick<CompareCell, 'doubt'>): string | undefined => (doubt === undefined ? undefined : localNumber(doubt))

/** The facts of side i of a row in a few lines, for the pointer. */
export function hoverText(comparison: Comparison, row: Row, i: number): string {
  const [cell, base] = [row.cells[i], row.cells[0]]
  if (!cell || !base) return ''
  const look = lookOf(cell)
  const floor = floorAbove(comparison, row, i)
  return [look ? `${look.sign} ${look.word}` : '', ...cellFacts(cell, base).map(({ name, value }) => `${name}: ${value}`), doubtText(cell) ?? '', floor ? floorWarning(floor) : ''].filter(Boolean).join('\n')
}
