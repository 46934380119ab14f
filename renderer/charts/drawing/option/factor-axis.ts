import { axisStyle, tick } from './axes'
import type { ChartTheme } from '../theme/theme'
import { localNumber } from '@core/units'

const TICKS = [1, 1.01, 1.02, 1.05, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1e3, 1e4, 1e5, 1e6]

/** Ends and ticks of an axis around 1x: round factors on both sides, thinned to what can be read. The axis reaches `step` on both sides at least, with about `most` ticks. */
export function factorAxis(values: readonly number[], step = 1.1, most = 10): { min: number; max: number; ticks: number[] } {
  const low = values.reduce((a, b) => Math.min(a, b), 1)
  const high = values.reduce((a, b) => Math.max(a, b), 1)
  const round = TICKS.filter((t) => t === 1 || t >= step)
  const beyond = (factor: number) => round.find((t) => t >= factor * 0.999) ?? factor
  // The side that is hardly used gets a step, so that bars of no effect are seen at 1x.
  const [max, min] = [Math.max(step, beyond(high)), 1 / Math.max(step, beyond(1 / low))]
  const all = [...round.slice(1).map((t) => 1 / t).reverse(), ...round].filter((t) => t >= min * 0.999 && t <= max * 1.001)
  const least = Math.log(max / min) / most
  const ticks: number[] = [1]
  for (const t of all.filter((v) => v > 1)) if (Math.log(t / ticks.at(-1)!) >= least) ticks.push(t)
  for (const t of all.filter((v) => v < 1).reverse()) if (Math.log(ticks[0]! / t) >= least) ticks.unshift(t)
  return { min, max, ticks }
}

/** How far beyond all values a whisker may stretch the axis; a longer one runs out of the picture. */
const MAX_BEYOND = 3

/** What an axis around 1x has to hold: the ratios, and their intervals unless they say next to nothing. */
export function factorExtent(ratios: readonly { ratio: number; low?: number | undefined; high?: number | undefined }[]): number[] {
  const [low, high] = ratios.reduce(([a, b], { ratio }) => [Math.min(a, ratio), Math.max(b, ratio)], [1, 1] as [number, number])
  return [low, high, ...ratios.flatMap((one) => [Math.max(one.low ?? low, low / MAX_BEYOND), Math.min(one.high ?? high, high * MAX_BEYOND)])]
}

/** Two digits tell the ticks below 1 apart: 0.33x for a third. */
const factor = (value: number) => `${localNumber(String(Number(value.toPrecision(value < 1 ? 2 : 3))))}x`

/** The options of a logarithmic axis of factors with these ends and ticks. */
export const factorTicks = (theme: ChartTheme, { min, max, ticks }: ReturnType<typeof factorAxis>) => {
  const style = axisStyle(theme)
  return { ...style, type: 'log' as const, logBase: 10, min, max, axisTick: { ...style.axisTick, customValues: ticks }, axisLabel: { ...style.axisLabel, customValues: ticks, formatter: tick(factor) } }
}
