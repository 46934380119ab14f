import { caseId, type BenchmarkCase } from '../case'
import type { Result } from '../result'
import { median } from '../stats/quantile'
import { interleavedRatio, type Block, type InterleavedRatio } from './interleave'
import { runOf } from './measured'

/** Ratios of pairs that were measured by interleaved blocks. */
export interface PairRatios {
  /** b over a, whichever of the two was called a when they were measured; undefined when they were not. */
  of(a: BenchmarkCase, b: BenchmarkCase): InterleavedRatio | undefined
}

/** Where a place of a quad is when a and b change names. */
const SWAPPED = [1, 0, 3, 2] as const

/** The pairs among results of sessions that add to the one compared. Wrong and failed blocks leave their quad incomplete. */
export function pairRatios(sessions: Iterable<Iterable<Pick<Result, 'case' | 'status' | 'samplesNs' | 'labels' | 'clocksMhz' | 'block'>>>): PairRatios {
  const cases = new Map<string, [a?: string, b?: string]>()
  const blocks = new Map<string, Block[]>()
  let firstQuad = 0
  let session = 0
  for (const results of sessions) {
    let lastQuad = firstQuad
    for (const result of results) {
      if (!result.block || result.status !== 'ok') continue
      const { quad, place } = result.block
      const pair = `${session}/${result.block.pair}`
      const sides = cases.get(pair) ?? []
      sides[place === 0 || place === 3 ? 0 : 1] ??= caseId(result.case)
      cases.set(pair, sides)
      const known = blocks.get(pair) ?? []
      known.push({ pair, quad: firstQuad + quad, place, ...typicalBlock(result) })
      blocks.set(pair, known)
      lastQuad = Math.max(lastQuad, firstQuad + quad + 1)
    }
    firstQuad = lastQuad
    session++
  }
  const found = new Map<string, Block[]>()
  for (const [pair, [a, b]] of cases) {
    if (a === undefined || b === undefined) continue
    const key = `${a} ${b}`
    found.set(key, [...(found.get(key) ?? []), ...blocks.get(pair)!])
  }
  return {
    of(a, b) {
      const [left, right] = [caseId(a), caseId(b)]
      const turned = (found.get(`${right} ${left}`) ?? []).map((block) => ({ ...block, place: SWAPPED[block.place]! }))
      return interleavedRatio([...(found.get(`${left} ${right}`) ?? []), ...turned])
    },
  }
}

/** A block by the median of its clean samples alone, in ns and in cycles: thousands of blocks are held at a time. */
export function typicalBlock(result: Pick<Result, 'samplesNs' | 'labels' | 'clocksMhz'>): Pick<Block, 'samplesNs' | 'clocksMhz'> {
  const run = runOf(result)
  const ns = median(run.ns)
  const cycles = run.cycles && median(run.cycles)
  if (ns === undefined) return { samplesNs: [] }
  return { samplesNs: [ns], ...(cycles === undefined ? {} : { clocksMhz: [(cycles / ns) * 1000] }) }
}
