/** Marks of series, all filled: hollow ones are those of sessions laid over another. Names of ECharts, or a path in a square of 10. */
export const SYMBOLS = [
  'circle', 'rect', 'triangle', 'diamond',
  'path://M0 0H10L5 9Z', // triangle on its head
  'path://M3.5 0H6.5V3.5H10V6.5H6.5V10H3.5V6.5H0V3.5H3.5Z', // upright cross
  'path://M2 0L5 3L8 0L10 2L7 5L10 8L8 10L5 7L2 10L0 8L3 5L0 2Z', // diagonal cross
  'path://M0 0V10L9 5Z', 'path://M10 0V10L1 5Z', // triangles to the right and left
  'path://M0 0H10L6 5L10 10H0L4 5Z', // hourglass
  'path://M5 0L6.5 3.5L10 3.8L7.3 6.2L8.1 10L5 8L1.9 10L2.7 6.2L0 3.8L3.5 3.5Z', // star
] as const
export type MarkSymbol = (typeof SYMBOLS)[number]

/** A line's dashes and gaps in px. */
export type Dash = 'solid' | number[]
export const DASHES: readonly Dash[] = ['solid', [6, 4], [2, 3], [10, 3, 2, 3], [1, 5], [18, 5]]

/** How a series is drawn beside its colour. */
export interface Look {
  symbol: MarkSymbol
  dash: Dash
}

const NAMED_PATHS: Readonly<Record<string, string>> = { circle: 'M0 5A5 5 0 1 1 10 5A5 5 0 1 1 0 5Z', rect: 'M0.6 0.6H9.4V9.4H0.6Z', triangle: 'M5 0L10 10H0Z', diamond: 'M5 0L10 5L5 10L0 5Z' }

/** The outline of a mark as SVG path data in a square of 10. */
export const markPath = (symbol: MarkSymbol): string => NAMED_PATHS[symbol] ?? symbol.slice('path://'.length)

/**
 * The one rule of what series look like, in every chart and report: names of one colour differ in their dashes, and each name has a mark of
 * its own, so that they are told apart without colour. `dash`: the one to keep where no other name of its colour has it.
 */
export function looksOf(series: readonly { name: string; color: string; dash?: Dash }[]): Map<string, Look> {
  const looks = new Map<string, Look>()
  const taken = new Map<string, Set<Dash>>()
  for (const { name, color, dash: own = DASHES[0]! } of series) {
    if (looks.has(name)) continue
    const used = taken.get(color) ?? new Set()
    taken.set(color, used)
    const dash = used.has(own) ? (DASHES.find((other) => !used.has(other)) ?? own) : own
    used.add(dash)
    looks.set(name, { dash, symbol: SYMBOLS[looks.size % SYMBOLS.length]! })
  }
  return looks
}

/** How a line shows what lies beneath it. */
export interface Overlap {
  /** Dashes that leave room for the colours of the lines it coincides with. */
  dash?: number[]
  /** Diameter in px of the mark of each point: a mark below others stands out around them. */
  sizes: number[]
}

const RIM_PX = 3
const MAX_RIM_PX = 11
/** Marks nearer to each other than this cover each other. */
const NEAR_PX = 4
/** Lines nearer to each other than this hide each other. */
const COINCIDE_PX = 2.5
/** Px of each colour of lines that coincide. */
const STRIPE_PX = 7

/**
 * Of the lines of one plot, in the order in which they are drawn: lines that coincide for at least half of their common sizes are drawn
 * in stripes of their colours, and of marks at one place the lower ones are larger. `data` begins with x and y; `toPx` places y on its axis;
 * marks have a diameter of `markPx`.
 */
export function overlapsOf(lines: readonly { color: string; data: readonly (readonly [x: number, y: number, ...unknown[]])[] }[], toPx: (value: number) => number, markPx: number): Overlap[] {
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
      sizes: data.map(([x]) => markPx + Math.min(MAX_RIM_PX, RIM_PX * above(x))),
    }
  })
}
