import { problemOf, type PreparedCase } from '@core/backend'
import { getOp } from '@core/ops/registry'
import { median, quantile } from '@core/stats/descriptive'
import { testCase } from '@core/testing'
import { nativeBackends } from '../../main/backends/native'
import { loadFigure, type Bench } from './bench'

/** Maps and row-wise work whose two tensors of some 100 KB leave the first cache and fit the second. */
const WORK = [
  { op: 'exp', params: { n: 25_600 } },
  { op: 'softmax', params: { rows: 100, cols: 256 } },
] as const
const QUADS = 12
const CALLS = 60

const time = async (prepared: PreparedCase, count: number) => Math.log(median((await prepared.sample({ mode: 'hot', count, inner: CALLS })).samplesNs)!)

/** Times of two openings of one case by turns: ln of the second over the first, median of the quads. */
async function apart(open: () => Promise<PreparedCase>): Promise<number> {
  // The one between is kept for as long, so that the allocator does not give the same place again.
  const all = [await open(), await open(), await open()]
  const [a, , b] = all as [PreparedCase, PreparedCase, PreparedCase]
  for (const one of [a, b]) await time(one, 10)
  const quads: number[] = []
  for (let i = 0; i < QUADS; i++) {
    const [a1, b1, b2, a2] = [await time(a, 5), await time(b, 5), await time(b, 5), await time(a, 5)]
    quads.push((b1 + b2 - a1 - a2) / 2)
  }
  for (const one of all) await one.dispose()
  return median(quads)!
}

/** How far the time of a case hangs on where its tensors happen to lie: two openings of one case by turns. pairs=30. */
const bench: Bench = async ({ args }) => {
  const { backends, problem } = nativeBackends()
  const cpu = backends.find(({ id }) => id === 'cpu')
  if (!cpu) throw new Error(problem)
  const pairs = Number(args['pairs'] ?? 30)
  const [device] = await cpu.devices()
  const impl = device!.impls.find(({ available, preferred }) => available.ok && preferred)!.id
  const figures = []
  for (const { op, params } of WORK) {
    const c = { ...testCase(), op, params, dtype: 'f32' as const, backend: 'cpu', impl, device: 'cpu', mode: 'hot' as const, threads: 1 }
    const away: number[] = []
    for (let i = 0; i < pairs; i++) away.push(Math.abs(await apart(() => cpu.open(problemOf(getOp(op), c, 1)))) * 100)
    for (const [words, p] of [['median', 0.5], ['90th percentile', 0.9]] as const) figures.push({ name: `cpu ${op} hot: two openings of a case apart, ${words} of ${pairs} pairs`, value: quantile(away, p)!, unit: '%', published: true })
  }
  return { figures: [...figures, loadFigure()], ...(device ? { devices: [device] } : {}) }
}
export default bench
