import type { ChartTheme } from '../types'
import type { Variant } from '../variants'

/** How the bars and the mean of a variant are drawn. */
export interface Look {
  /** CSS colours. */
  fill: string
  border: string
  /** Of the line of its mean: a name or lengths in px. */
  dash: 'dashed' | 'dotted' | number[]
}

const DASHES: readonly Look['dash'][] = ['dashed', 'dotted', [9, 3, 2, 3], [14, 4], [2, 7]]
/** How much of the colour is left in the last of several variants. */
const PALEST = 0.08

/** `#rrggbb` between two others; `share` of the first. */
function mixed(color: string, other: string, share: number): string {
  const channel = (hex: string, i: number) => Number.parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16)
  return `#${[0, 1, 2].map((i) => Math.round(channel(color, i) * share + channel(other, i) * (1 - share)).toString(16).padStart(2, '0')).join('')}`
}

/** Variants of one implementation (other threads, other devices) share its colour and differ in how much of it fills their bars and in the dash of their mean. */
export function looksOf(variants: readonly Pick<Variant, 'backend' | 'impl'>[], theme: ChartTheme): Look[] {
  return variants.map((variant, at) => {
    const alike = variants.flatMap(({ backend, impl }, i) => (backend === variant.backend && impl === variant.impl ? [i] : []))
    const rank = alike.indexOf(at)
    const border = theme.colorOf(variant.backend, variant.impl)
    return { fill: mixed(border, theme.surface, alike.length === 1 ? 0.85 : 1 - ((1 - PALEST) * rank) / (alike.length - 1)), border, dash: DASHES[rank % DASHES.length]! }
  })
}
