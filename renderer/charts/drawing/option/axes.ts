import { extent } from '@core/stats/descriptive'
import { chooseTimeUnit, localNumber } from '@core/units'
import type { ChartTheme } from '../theme/theme'

/** `base ** n` bounds that hold all values, a single one in their middle; undefined without values. */
export function logBounds(values: readonly number[], base: number): { min: number; max: number } | undefined {
  const positive = values.filter((v) => v > 0 && Number.isFinite(v))
  if (!positive.length) return undefined
  const exponent = (v: number) => Math.log(v) / Math.log(base)
  const low = Math.floor(exponent(Math.min(...extent(positive))) + 1e-9)
  const high = Math.ceil(exponent(Math.max(...extent(positive))) - 1e-9)
  return high > low ? { min: base ** low, max: base ** high } : { min: base ** (low - 1), max: base ** (low + 1) }
}

const FINE = [1, 2, 5] as const
/** Fewer ticks than this leave values between them unreadable. */
const MIN_FINE_TICKS = 4
/**
 * Ticks from the last one below the values to the first one above, where whole powers of ten would leave most of a plot empty: at 1, 2 and 5 times
 * powers of ten, or in equal steps where values differ by too little for these.
 */
export function fineTicks(values: readonly number[]): number[] | undefined {
  const positive = values.filter((v) => v > 0 && Number.isFinite(v))
  if (!positive.length) return undefined
  const [low, high] = extent(positive) as [number, number]
  const first = Math.floor(Math.log10(low))
  const all = Array.from({ length: Math.ceil(Math.log10(high)) - first + 1 }, (_, i) => FINE.map((step) => Number((step * 10 ** (first + i)).toPrecision(1)))).flat()
  const from = all.findLastIndex((tick) => tick < low)
  const to = all.findIndex((tick) => tick > high)
  const ticks = all.slice(Math.max(0, from), to < 0 ? undefined : to + 1)
  return ticks.length < MIN_FINE_TICKS ? evenTicks(low, high) : ticks
}

/** Three to seven ticks in steps of 1, 2 or 5 times a power of ten, from below `low` to above `high`, both above zero; steps of at least 1 % of `high` keep their texts apart. */
function evenTicks(low: number, high: number): number[] {
  const least = Math.max((high - low) / 4, high / 100)
  const power = 10 ** Math.floor(Math.log10(least))
  const step = ([1, 2, 5, 10].find((of) => of * power >= least) ?? 10) * power
  const from = Math.max(1, Math.ceil(low / step) - 1)
  const to = Math.floor(high / step) + 1
  return Array.from({ length: to - from + 1 }, (_, i) => Number(((from + i) * step).toPrecision(6)))
}

/** A tick's text without the zeros that keep table columns aligned: "1.50 ms" reads "1.5 ms". */
export const tick = (format: (value: number) => string) => (value: number): string =>
  format(value).replace(/\.(\d*?)0+(?=\D|$)/, (_zeros, digits: string) => (digits ? `.${digits}` : ''))

/** Texts of ticks of an axis over this range of ns: one unit, and as many decimals as it takes to tell neighbours apart. */
export function timeTick({ min, max }: { min: number; max: number }): (ns: number) => string {
  const unit = chooseTimeUnit(max)
  const decimals = Math.max(0, Math.min(4, Math.ceil(-Math.log10((max - min) / unit.size / 5))))
  return (ns) => `${localNumber((ns / unit.size).toFixed(decimals))} ${unit.name}`
}

/** Whole powers of `base` from end to end, thinned evenly to at most so many. */
export function logTicks(bounds: { min: number; max: number }, base: number, most = 12): number[] {
  const exponent = (v: number) => Math.round(Math.log(v) / Math.log(base))
  const first = exponent(bounds.min)
  const steps = exponent(bounds.max) - first
  const stride = Math.ceil((steps + 1) / most)
  return Array.from({ length: Math.floor(steps / stride) + 1 }, (_, i) => base ** (first + i * stride))
}

/** Axis lines, ticks and labels in the theme's colours, for any axis. */
export const axisStyle = (theme: ChartTheme) => ({
  nameLocation: 'middle' as const,
  nameTextStyle: { color: theme.muted, fontSize: 11, fontFamily: theme.fontText },
  axisLine: { lineStyle: { color: theme.grid } },
  axisTick: { lineStyle: { color: theme.grid } },
  axisLabel: { color: theme.muted, fontSize: 11, fontFamily: theme.fontText, hideOverlap: true },
  splitLine: { lineStyle: { color: theme.grid, width: 1 } },
  minorSplitLine: { show: false },
})

/** A logarithmic axis with whole powers of `base` at both ends, or with these ticks. */
export const logAxis = (theme: ChartTheme, base: number, name: string, bounds: { min: number; max: number }, format: (value: number) => string, most?: number, own?: readonly number[]) => {
  const style = axisStyle(theme)
  // Left to itself the library shows three powers of two at most.
  const ticks = own ? [...own] : logTicks(bounds, base, most)
  return {
    ...style,
    type: 'log' as const,
    logBase: base,
    name,
    min: bounds.min,
    max: bounds.max,
    axisTick: { ...style.axisTick, customValues: ticks },
    axisLabel: { ...style.axisLabel, customValues: ticks, formatter: tick(format) },
  }
}
