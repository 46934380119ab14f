import { problemOf } from '@core/backend'
import { getOp } from '@core/ops/registry'
import { nativeBackends } from '../../main/backends/native'
import { loadFigure, type Bench, type Figure } from './bench'

const LEVELS = ['scalar', 'sse2', 'avx2', 'avx512', 'neon']
const middle = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!

/** What a call of the smallest case costs on every level of the CPU, on one thread and on all, and what waking the other threads adds. Hot, 1,000 calls a sample. */
const bench: Bench = async () => {
  const cpu = nativeBackends().backends.find(({ id }) => id === 'cpu')
  const [device] = (await cpu?.devices()) ?? []
  if (!cpu || !device) throw new Error('the addon has no CPU backend')
  const most = device.threads.at(-1)!
  const cost = async (impl: string, threads: number): Promise<number> => {
    const prepared = await cpu.open(problemOf(getOp('copy'), { op: 'copy', params: { n: 1 }, dtype: 'f32', backend: 'cpu', impl, device: device.id, mode: 'hot', threads }, 1))
    try {
      await prepared.sample({ mode: 'hot', count: 20, inner: 1000 })
      return middle([...(await prepared.sample({ mode: 'hot', count: 200, inner: 1000 })).samplesNs])
    } finally {
      await prepared.dispose()
    }
  }
  const figures: Figure[] = []
  for (const { id, title } of device.impls.filter(({ id, available }) => available.ok && LEVELS.includes(id))) {
    const alone = await cost(id, 1)
    figures.push({ name: `copy of one element, ${title}, 1 thread: median of a call`, value: alone, unit: 'ns', aim: 300, better: 'less', published: true })
    if (most > 1) figures.push({ name: `the same on ${most} threads, beyond one: waking the team and waiting for it`, value: (await cost(id, most)) - alone, unit: 'ns', aim: 5000, better: 'less', published: true })
  }
  return { figures: [...figures, loadFigure()], devices: [device] }
}
export default bench
