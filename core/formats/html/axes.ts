import { extent } from '../../stats/descriptive'
import { formatBandwidth, formatSizeTick, formatFlops, formatTime } from '../../units'

/** What a file may claim is wider than what a chart can show: femtoseconds and yottabytes are damage. */
export const drawable = (v: number | undefined): v is number => v !== undefined && v >= 1e-9 && v <= 1e24

/** A range on a logarithmic axis, widened to whole decades' 1-2-5 steps or powers of two, and the ticks within it. */
export interface LogAxis {
  low: number
  high: number
  ticks: number[]
}

/** Steps 1, 2, 5 of each decade that cover the values; at most about eight ticks, thinned to decades beyond. Values must be above zero. */
export function decadeAxis(values: readonly number[]): LogAxis {
  const [min, max] = extent(values)
  const steps: number[] = []
  for (let e = Math.floor(Math.log10(min)) - 1; e <= Math.ceil(Math.log10(max)); e++) for (const m of [1, 2, 5]) steps.push(m * 10 ** e)
  const low = steps.findLast((s) => s <= min * (1 + 1e-12)) ?? min
  const high = steps.find((s) => s >= max * (1 - 1e-12) && s > low) ?? max
  const inside = steps.filter((s) => s >= low && s <= high)
  const decades = inside.filter((s) => Math.abs(Math.log10(s) - Math.round(Math.log10(s))) < 1e-9)
  return { low, high, ticks: thin(inside.length <= 8 ? inside : decades, 8) }
}

/** Even steps that cover the values where they are close together, as ratios are; decades beyond a factor of four. */
export function closeAxis(values: readonly number[]): LogAxis {
  const [min, max] = extent(values)
  if (!(max < 4 * min)) return decadeAxis(values)
  const rough = Math.max((max - min) / 6, max / 100)
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * (1 - 1e-9))!
  const first = Math.max(1, Math.floor(min / step + 1e-9))
  const ticks = Array.from({ length: Math.max(2, Math.ceil(max / step - 1e-9) - first + 1) }, (_, i) => Number(((first + i) * step).toPrecision(12)))
  return { low: Math.min(min, ticks[0]!), high: Math.max(max, ticks.at(-1)!), ticks }
}

/** Powers of two that cover the values, at most eight of them marked. */
export function powerOfTwoAxis(values: readonly number[]): LogAxis {
  const [min, max] = extent(values)
  const first = Math.floor(Math.log2(min) + 1e-9)
  const last = Math.max(first + 1, Math.ceil(Math.log2(max) - 1e-9))
  return { low: 2 ** first, high: 2 ** last, ticks: thin(Array.from({ length: last - first + 1 }, (_, i) => 2 ** (first + i)), 8) }
}

const thin = (ticks: number[], most: number) => {
  const every = Math.ceil(ticks.length / most)
  return ticks.filter((_, i) => i % every === 0)
}

/** What an axis counts, and how its values are written. */
export const QUANTITIES = { count: formatSizeTick, time: formatTime, bandwidth: formatBandwidth, flops: formatFlops, ratio: (value: number) => `${Number(value.toPrecision(3))}x` } as const satisfies Record<string, (value: number) => string>
export type Quantity = keyof typeof QUANTITIES

/** Axis ticks are round: "10 ms" says what "10.0 ms" does. */
export const tickText = (quantity: Quantity, value: number): string => QUANTITIES[quantity](value).replace(/\.0+(?= )/, '')
