import { studentQuantile } from '../../stats/significance'
import type { EnergyTrace } from '../../backend'
import type { Energy } from '../../result'

/** So many windows of so many seconds at least: the interval is over windows. */
export const WINDOWS = 5
export const WINDOW_SECONDS = 2

/** Calls that were complete at a time in ms of the clock of the trace; both rise. */
export interface CallMark {
  ms: number
  calls: number
}

/** From one tick of the counter to another. */
export interface EnergyWindow {
  seconds: number
  joules: number
  calls: number
  /** Integral of the sampled power over the window; absent where power was not sampled throughout. */
  sampledJoules?: number
}

/** The value of a line through `(x, y)` at a place between its ends. */
function interpolated(x: ArrayLike<number>, y: ArrayLike<number>, at: number): number {
  let low = 0
  let high = x.length - 1
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (x[middle]! <= at) low = middle
    else high = middle
  }
  const span = x[high]! - x[low]!
  return span > 0 ? y[low]! + ((y[high]! - y[low]!) * (at - x[low]!)) / span : y[low]!
}

/** Integral of power over time by the trapezoidal rule; undefined where the readings do not cover it. */
function integral({ powerMs, watts }: EnergyTrace, fromMs: number, toMs: number): number | undefined {
  if (powerMs.length < 2 || powerMs[0]! > fromMs || powerMs[powerMs.length - 1]! < toMs) return undefined
  const inside = Array.from(powerMs).filter((ms) => ms > fromMs && ms < toMs)
  const at = [fromMs, ...inside, toMs]
  const values = at.map((ms) => interpolated(powerMs, watts, ms))
  return at.slice(1).reduce((sum, ms, i) => sum + ((values[i]! + values[i + 1]!) / 2) * ((ms - at[i]!) / 1000), 0)
}

/**
 * Windows of at least `seconds` whose ends are ticks of the counter, one after the other, within the time that the marks cover. Calls at a
 * tick are interpolated between the marks beside it.
 */
export function energyWindows(trace: EnergyTrace, marks: readonly CallMark[], seconds = WINDOW_SECONDS): EnergyWindow[] {
  const first = marks[0]
  const last = marks.at(-1)
  if (!first || !last) return []
  const [ms, calls] = [marks.map((mark) => mark.ms), marks.map((mark) => mark.calls)]
  const windows: EnergyWindow[] = []
  let from = -1
  for (let i = 0; i < trace.tickMs.length; i++) {
    const at = trace.tickMs[i]!
    if (at < first.ms || at > last.ms) continue
    if (from < 0) from = i
    const start = trace.tickMs[from]!
    if (at - start < seconds * 1000) continue
    const sampledJoules = integral(trace, start, at)
    windows.push({ seconds: (at - start) / 1000, joules: trace.joules[i]! - trace.joules[from]!, calls: interpolated(ms, calls, at) - interpolated(ms, calls, start), ...(sampledJoules === undefined ? {} : { sampledJoules }) })
    from = i
  }
  return windows
}

/** Mean power between the first and the last tick; undefined where there are fewer than two. */
export function meanWatts({ tickMs, joules }: EnergyTrace): number | undefined {
  const last = tickMs.length - 1
  return last < 1 ? undefined : (joules[last]! - joules[0]!) / ((tickMs[last]! - tickMs[0]!) / 1000)
}

/** What the windows come to. The interval is Student's over the joules per call of each. Undefined where there are too few windows, or no energy was counted. */
export function energyOf(windows: readonly EnergyWindow[], source: string, idleWatts?: number): Energy | undefined {
  const used = windows.slice(-WINDOWS)
  if (used.length < WINDOWS || used.some(({ joules, calls }) => !(joules > 0) || !(calls > 0))) return undefined
  const total = (pick: (window: EnergyWindow) => number) => used.reduce((sum, window) => sum + pick(window), 0)
  const [joules, calls, seconds] = [total((w) => w.joules), total((w) => w.calls), total((w) => w.seconds)]
  const each = used.map((w) => w.joules / w.calls)
  const mean = each.reduce((a, b) => a + b, 0) / each.length
  const deviation = Math.sqrt(each.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (each.length - 1))
  const half = (studentQuantile(0.025, each.length - 1) * deviation) / Math.sqrt(each.length)
  const joulesPerCall = joules / calls
  const sampled = used.every((w) => w.sampledJoules !== undefined) ? total((w) => w.sampledJoules!) / calls : undefined
  return {
    joulesPerCall, lowJ: Math.max(0, joulesPerCall - half), highJ: joulesPerCall + half, windows: used.length, seconds, calls: Math.round(calls), watts: joules / seconds, source,
    ...(idleWatts === undefined ? {} : { idleWatts }), ...(sampled === undefined ? {} : { sampledJoulesPerCall: sampled }),
  }
}

/** Figures that follow from the energy of a call: per joule, and the energy-delay product in joule seconds with the time of a call in the windows. */
export function perJoule({ energy, flops, bytes }: { energy: Pick<Energy, 'joulesPerCall' | 'seconds' | 'calls'>; flops: number; bytes: number }): { flopsPerJoule?: number; bytesPerJoule: number; energyDelay: number } {
  const { joulesPerCall, seconds, calls } = energy
  return { ...(flops > 0 ? { flopsPerJoule: flops / joulesPerCall } : {}), bytesPerJoule: bytes / joulesPerCall, energyDelay: (joulesPerCall * seconds) / calls }
}
