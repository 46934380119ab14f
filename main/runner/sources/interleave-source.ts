import { caseId, type BenchmarkCase } from '@core/case'
import { INTERLEAVE, interleavedRatio, pairSettled, typicalBlock, type Block, type Pair } from '@core/compare'
import { Outlook } from './pace'
import type { CaseSource, Measured, Turn } from './source'

/** Side of each place of an ABBA quad: a linear drift affects both sides equally. */
const SIDES = ['a', 'b', 'b', 'a'] as const

/** Cases that a host keeps open (core/measure/serve.ts). */
const KEPT_OPEN = 2

export interface InterleaveSourceOptions {
  pairs: readonly Pair[]
  /** Ratio below which a difference counts as none, as a fraction. */
  threshold: number
  /** Quads of each pair, whatever they show; absent: until the pair is settled. */
  quads?: number
  /** Expected wall time of one block in seconds. */
  secondsOf(c: BenchmarkCase): number
}

export interface InterleaveSource extends CaseSource {
  /** What was measured of each pair, by pair id. A block holds the median of its clean samples. */
  blocks: ReadonlyMap<string, readonly Block[]>
}

interface Open {
  pair: Pair
  quads: number
  blocks: Block[]
}

/**
 * Pairs measured interleaved, in quads of four blocks, until each is settled or has the most quads, or has as many as were
 * asked for. As many pairs take turns as their host can keep open; a pair of which a block gives no figure is given up.
 */
export function interleaveSource({ pairs, threshold, quads: asked, secondsOf }: InterleaveSourceOptions): InterleaveSource {
  const { settings, minQuads, maxQuads } = INTERLEAVE
  /** Quads that a pair which goes on after `quads` of them is expected to need in all. */
  const expectedQuads = (quads: number) => asked ?? Math.min(maxQuads, Math.max(2 * minQuads, 2 * quads))
  const enough = ({ quads, blocks }: Open) => (asked === undefined ? quads >= maxQuads || pairSettled(interleavedRatio(blocks), threshold) : quads >= asked)
  const outlook = new Outlook()
  const blocks = new Map<string, Block[]>()
  let total = 0
  /** `quads` more, or fewer, are expected of this pair. */
  const expectQuads = ({ a, b }: Pair, quads: number) => {
    total += quads * SIDES.length
    for (const c of [a, b]) outlook.add(c.device, 2 * quads * secondsOf(c))
  }
  for (const pair of pairs) expectQuads(pair, expectedQuads(0))

  function* quad({ pair, quads, blocks }: Open): Generator<Turn, boolean, Measured> {
    for (const [place, side] of SIDES.entries()) {
      const seconds = secondsOf(pair[side])
      const block = { pair: pair.id, quad: quads, place }
      const [result] = yield { case: pair[side], settings, seconds, keep: true, mark: { block } }
      outlook.add(pair[side].device, -seconds)
      if (result.status === 'ok') blocks.push({ ...block, ...typicalBlock(result) })
      else {
        for (const rest of SIDES.slice(place + 1)) outlook.add(pair[rest].device, -secondsOf(pair[rest]))
        total -= SIDES.length - place - 1
        return false
      }
    }
    return true
  }

  function* turns(): Generator<Turn, void, Measured> {
    const waiting = pairs.map((pair): Open => {
      const own: Block[] = []
      blocks.set(pair.id, own)
      return { pair, quads: 0, blocks: own }
    })
    const group: Open[] = []
    const openCases = (opens: readonly Open[]) => new Set(opens.flatMap(({ pair }) => [caseId(pair.a), caseId(pair.b)])).size
    for (;;) {
      while (waiting[0] && (group.length === 0 || openCases([...group, waiting[0]]) <= KEPT_OPEN)) group.push(waiting.shift()!)
      const open = group.shift()
      if (!open) return
      const expected = expectedQuads(open.quads)
      const whole = yield* quad(open)
      open.quads += 1
      const over = !whole || enough(open)
      expectQuads(open.pair, (over ? open.quads : expectedQuads(open.quads)) - expected)
      if (!over) group.push(open)
    }
  }
  return { turns: turns(), total: () => total, left: () => outlook, blocks }
}
