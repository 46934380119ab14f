import { DASHES, SYMBOLS, type ChartSeries } from '../../data/series'
import { MARK_PX, type Datum } from './frame'
import type { ChartTheme } from '../theme/theme'

/**
 * The series of one chart so that no two names look alike: names of one colour differ in their dashes. Where the mark does not stand
 * for an operation, it stands for the name. A name looks the same in every plot of the chart.
 */
export function distinctLooks(series: readonly ChartSeries[], theme: ChartTheme): ChartSeries[] {
  const names = [...new Set(series.map(({ label }) => label))]
  const dashes = new Map<string, ChartSeries['dash']>()
  const taken = new Map<string, Set<ChartSeries['dash']>>()
  for (const one of series) {
    if (dashes.has(one.label)) continue
    const color = theme.colorOf(one.backend, one.impl, one.facets.device)
    const used = taken.get(color) ?? new Set()
    taken.set(color, used)
    const dash = used.has(one.dash) ? (DASHES.find((other) => !used.has(other)) ?? one.dash) : one.dash
    used.add(dash)
    dashes.set(one.label, dash)
  }
  const byOperation = series.some(({ naming, facets, label }) => naming.includes('op') && label.split(' · ').includes(facets.op))
  return series.map((one) => ({ ...one, dash: dashes.get(one.label)!, ...(byOperation ? {} : { symbol: SYMBOLS[names.indexOf(one.label) % SYMBOLS.length]! }) }))
}

/** How a line shows what lies beneath it. */
export interface Overlap {
  /** Dashes that leave room for the colours of the lines it coincides with. */
  dash?: number[]
  /** Diameter in px of the mark of each datum: a mark below others stands out around them. */
  sizes: number[]
}

const RIM_PX = 3
const MAX_MARK_PX = 17
/** Marks nearer to each other than this cover each other. */
const NEAR_PX = 4
/** Lines nearer to each other than this hide each other. */
const COINCIDE_PX = 2.5
/** Px of each colour of lines that coincide. */
const STRIPE_PX = 7

/**
 * Of the lines of one plot, in the order in which they are drawn: lines that coincide for at least half of their common sizes are drawn
 * in stripes of their colours, and of marks at one place the lower ones are larger. `toPx` places a value on the axis.
 */
export function overlapsOf(lines: readonly { color: string; data: readonly Datum[] }[], toPx: (value: number) => number): Overlap[] {
  const at = lines.map(({ data }) => new Map(data.map(([x, y]) => [x, toPx(y)])))
  const apart = (i: number, j: number, x: number) => Math.abs(at[i]!.get(x)! - (at[j]!.get(x) ?? Infinity))
  const coincide = (i: number, j: number) => {
    const common = [...at[i]!.keys()].filter((x) => at[j]!.has(x))
    return common.length > 1 && common.filter((x) => apart(i, j, x) < COINCIDE_PX).length * 2 >= common.length
  }
  const colours = lines.map((_, i) => {
    const together = lines.flatMap((other, j) => (j === i || coincide(i, j) ? [other.color] : []))
    return [...new Set(together)]
  })
  return lines.map(({ color, data }, i) => {
    const all = colours[i]!
    const place = all.indexOf(color)
    const above = (x: number) => lines.filter((_, j) => j > i && apart(i, j, x) < NEAR_PX).length
    return {
      ...(place > 0 ? { dash: [(all.length - place) * STRIPE_PX, place * STRIPE_PX] } : {}),
      sizes: data.map(([x]) => Math.min(MAX_MARK_PX, MARK_PX + RIM_PX * above(x))),
    }
  })
}
