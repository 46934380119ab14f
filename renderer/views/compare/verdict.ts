import type { CompareCell } from '@core/compare'
import { formatRatio } from '@core/units'

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

/** `0.842x`, and its interval in words for the second line. */
export const ratioText = (cell: CompareCell): string => formatRatio(cell.ratio)
export const intervalText = (cell: CompareCell): string =>
  cell.ratioLow === undefined || cell.ratioHigh === undefined ? '' : `${cell.ratioLow.toFixed(3)} to ${cell.ratioHigh.toFixed(3)}`
