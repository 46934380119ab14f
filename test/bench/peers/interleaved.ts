import { problemOf, type Backend, type PreparedCase } from '@core/backend'
import type { BenchmarkCase } from '@core/case'
import { getOp } from '@core/ops/registry'
import { median } from '@core/stats/descriptive'
import { SEED } from '../../conformance/faults'
import type { Drawn } from '../fuzz/draw'

/** One implementation with a number of threads. */
export interface Runner {
  name: string
  backend: Backend
  device: string
  impl: string
  threads: number
}

/** Median time in ns, and of the rounds the median of the first runner's time over this one's: above 1, the first is slower. */
export interface Timed {
  name: string
  ns: number
  slower: number
}

/** Rounds, and samples of a runner in each. */
export interface Effort {
  rounds: number
  samples: number
}

/** A sample lasts about so long in ns, and calls longer than `LONG` are sampled twice a round. */
const SAMPLE = 3e5
const LONG = 4e6

const textOf = (thrown: unknown) => (thrown instanceof Error ? thrown.message : String(thrown))

/**
 * One case on every runner, hot, in rounds: each runner has its turn in every round, forwards and backwards. Ratios are of turns of
 * the same round, so what slows the machine for longer than a round is in both. A runner that refuses the case is in `refused`.
 */
export async function interleaved({ op: id, dtype, params }: Drawn, runners: readonly Runner[], { rounds, samples }: Effort): Promise<{ timed: Timed[]; refused: Record<string, string> }> {
  const op = getOp(id)
  const refused: Record<string, string> = {}
  const opened: { name: string; prepared: PreparedCase; inner: number; count: number; turns: number[] }[] = []
  try {
    for (const { name, backend, device, impl, threads } of runners) {
      const c: BenchmarkCase = { op: id, dtype, params, backend: backend.id, device, impl, mode: 'hot', threads }
      let prepared: PreparedCase | undefined
      try {
        prepared = await backend.open(problemOf(op, c, SEED))
        await prepared.run()
        const once = Math.min(...(await prepared.sample({ mode: 'hot', count: 3, inner: 1 })).samplesNs)
        opened.push({ name, prepared, inner: Math.max(1, Math.round(SAMPLE / once)), count: once > LONG ? 2 : samples, turns: [] })
      } catch (thrown) {
        refused[name] = textOf(thrown)
        await prepared?.dispose().catch(() => undefined)
      }
    }
    for (let round = 0; round < rounds; round++)
      for (const one of round % 2 === 0 ? opened : [...opened].reverse()) one.turns.push(median([...(await one.prepared.sample({ mode: 'hot', count: one.count, inner: one.inner })).samplesNs])!)
    const first = opened[0]
    return { timed: opened.map(({ name, turns }) => ({ name, ns: median(turns)!, slower: median(turns.map((ns, round) => first!.turns[round]! / ns))! })), refused }
  } finally {
    for (const { prepared } of opened) await prepared.dispose().catch(() => undefined)
  }
}
