import type { BenchmarkCase } from '../case'
import type { MeasureSettings } from '../measure/settings'
import { findOp } from '../ops/registry'

/** What one case took on this machine, whole: opening, filling, compiling, verifying, warming up and sampling. */
export interface Took {
  case: BenchmarkCase
  /** Of the device that the case names, as it was then. */
  deviceName: string
  settings: MeasureSettings
  wallSeconds: number
}

/**
 * How many times as long as estimated cases of a device took, by what they have in common: keys of `keysOf`. The estimate
 * knows the parts of a case and how they grow; what they really take on this machine, with its compilers, libraries and
 * verification, only its history says.
 */
export type Paces = Readonly<Record<string, number>>

/** The newest of a kind that count: what a machine took long ago it may not take any more. */
const NEWEST = 10

/** What cases have in common whose times are alike, from nearly the same case to any of an implementation. */
function keysOf(c: BenchmarkCase, settings: MeasureSettings): string[] {
  const op = findOp(c.op)
  const params = op?.params.safeParse(c.params)
  // Sizes within a factor of four are alike.
  const size = op && params?.success ? Math.floor(Math.log2(Math.max(1, op.bytes(params.data, c.dtype))) / 2) : -1
  const { rule, relativeCi, minSamples, minSeconds, maxSeconds, maxWarmupSeconds, verifyWork } = settings
  const how = [rule?.id ?? '', ...Object.values(rule ?? {}).slice(1), relativeCi, minSamples, minSeconds, maxSeconds, maxWarmupSeconds, verifyWork].join(',')
  return [[c.impl, c.mode, size, how, c.op, c.dtype], [c.impl, c.mode, size, how, c.op], [c.impl, c.mode, size, how], [c.impl, size], [c.impl]].map((parts) => parts.join('|'))
}

/** The paces that these times show, newest first; `estimate` gives the seconds that were expected without any pace. */
export function pacesOf(took: readonly Took[], estimate: (one: Took) => number): Paces {
  const sums = new Map<string, { count: number; took: number; expected: number }>()
  for (const one of took) {
    const expected = estimate(one)
    if (!(expected > 0) || !(one.wallSeconds > 0)) continue
    for (const key of keysOf(one.case, one.settings)) {
      const sum = sums.get(key) ?? { count: 0, took: 0, expected: 0 }
      sums.set(key, sum)
      if (sum.count === NEWEST) continue
      sum.count += 1
      sum.took += one.wallSeconds
      sum.expected += expected
    }
  }
  // Sums, not medians: the one case in ten that compiles for seconds is part of what ten take.
  return Object.fromEntries([...sums].map(([key, sum]) => [key, sum.took / sum.expected]))
}

/** How many times as long as estimated such a case takes; 1 where nothing like it was measured. */
export function paceFor(paces: Paces | undefined, c: BenchmarkCase, settings: MeasureSettings): number {
  if (!paces) return 1
  for (const key of keysOf(c, settings)) {
    const pace = Object.hasOwn(paces, key) ? paces[key] : undefined
    if (pace !== undefined) return pace
  }
  return 1
}
