import { problemOf } from '@core/backend'
import { getOp } from '@core/ops/registry'
import { median, quantile } from '@core/stats/quantile'
import { testCase } from '@core/testing'
import { nativeAddon, type NativeAddon } from '../../main/backends/native'
import { toSpec } from '../../main/backends/native/backend'
import { loadFigure, type Bench } from './bench'

/** Maps and row-wise work whose two tensors of some 100 KB leave the first cache and fit the second. */
const WORK = [
  { op: 'exp', params: { n: 25_600 } },
  { op: 'softmax', params: { rows: 100, cols: 256 } },
] as const
const QUADS = 12
const CALLS = 60

/** Times of two openings of one case by turns: ln of the second over the first, median of the quads. */
function apart(addon: NativeAddon, op: string, params: Record<string, number>): number {
  const device = addon.devices('cpu') as { impls: { id: string; available: { ok: boolean }; preferred: boolean }[] }[]
  const impl = device[0]!.impls.find(({ available, preferred }) => available.ok && preferred)!.id
  const c = { ...testCase(), op, params, dtype: 'f32' as const, backend: 'cpu', impl, device: 'cpu', mode: 'hot' as const, threads: 1 }
  const spec = toSpec('cpu', problemOf(getOp(op), c, 1))
  // The one between is kept for as long, so that the allocator does not give the same place again.
  const [a, between, b] = [new addon.Case(spec), new addon.Case(spec), new addon.Case(spec)]
  const time = (one: typeof a) => Math.log(median(one.sample('hot', 5, CALLS).samplesNs)!)
  for (const one of [a, b]) one.sample('hot', 10, CALLS)
  const quads = Array.from({ length: QUADS }, () => {
    const [a1, b1, b2, a2] = [time(a), time(b), time(b), time(a)]
    return (b1 + b2 - a1 - a2) / 2
  })
  for (const one of [a, between, b]) one.dispose()
  return median(quads)!
}

/** How far the time of a case hangs on where its tensors happen to lie: two openings of one case by turns. pairs=30. */
const bench: Bench = async ({ args }) => {
  const found = nativeAddon()
  if ('problem' in found) throw new Error(found.problem)
  const pairs = Number(args['pairs'] ?? 30)
  const figures = WORK.flatMap(({ op, params }) => {
    const away = Array.from({ length: pairs }, () => Math.abs(apart(found.addon, op, params)) * 100)
    return ([['median', 0.5], ['90th percentile', 0.9]] as const).map(([words, p]) => ({ name: `cpu ${op} hot: two openings of a case apart, ${words} of ${pairs} pairs`, value: quantile(away, p)!, unit: '%', published: true as const }))
  })
  return { figures: [...figures, loadFigure()] }
}
export default bench
