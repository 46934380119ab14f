import type { CompareCell } from '@core/compare'
import { ABSENT } from '@core/units'

/** A verdict as shown: a sign, a word and a tone, so that colour is never alone. */
export interface VerdictLook {
  sign: string
  word: string
  tone: string
}

const LOOKS: Readonly<Record<NonNullable<CompareCell['verdict']>, VerdictLook>> = {
  faster: { sign: '▲', word: 'faster', tone: 'text-good' },
  slower: { sign: '▼', word: 'slower', tone: 'text-danger' },
  same: { sign: '=', word: 'same', tone: 'text-muted' },
  ambiguous: { sign: '?', word: 'unclear', tone: 'text-warning' },
}

export const lookOf = (cell: CompareCell): VerdictLook | undefined => (cell.verdict ? LOOKS[cell.verdict] : undefined)

/** `0.842x`, with as many places in every row so that the points are in line; and its interval in words. */
export const ratioText = (cell: CompareCell): string => (cell.ratio === undefined ? ABSENT : `${cell.ratio.toFixed(3)}x`)
export const intervalText = (cell: CompareCell): string =>
  cell.ratioLow === undefined || cell.ratioHigh === undefined ? '' : `${cell.ratioLow.toFixed(3)} to ${cell.ratioHigh.toFixed(3)}`
