import { problemOf, type Device, type PreparedCase } from '@core/backend'
import type { BenchmarkCase, Params } from '@core/case'
import { getOp } from '@core/ops/registry'
import { medianInterval } from '@core/stats/bootstrap'
import { median, quantile } from '@core/stats/descriptive'
import { nativeBackends } from '../../main/backends/native'
import { loadFigure, type Bench, type Figure } from './bench'

/** What limits a case on all threads: arithmetic (the aim is a speedup), memory (the aim is the rate of a copy), or the waking of the team. */
interface Work {
  op: string
  params: Params
  bound: 'compute' | 'memory' | 'launch'
}

const WORK: readonly Work[] = [
  { op: 'peak_fma', params: { n: 2 ** 16, iterations: 1024 }, bound: 'compute' },
  { op: 'copy', params: { n: 2 ** 27 }, bound: 'memory' },
  { op: 'exp', params: { n: 2 ** 20 }, bound: 'compute' },
  { op: 'gelu', params: { n: 2 ** 20 }, bound: 'compute' },
  { op: 'softmax', params: { rows: 1024, cols: 1024 }, bound: 'compute' },
  { op: 'layer_norm', params: { tokens: 1024, dim: 1024 }, bound: 'compute' },
  { op: 'matmul', params: { m: 1024, n: 1024, k: 1024 }, bound: 'compute' },
  { op: 'matmul', params: { m: 2048, n: 2048, k: 2048 }, bound: 'compute' },
  { op: 'sum', params: { rows: 2 ** 15, cols: 4096, axis: 'all' }, bound: 'memory' },
  { op: 'exp', params: { n: 2 ** 26 }, bound: 'memory' },
  { op: 'exp', params: { n: 100_000 }, bound: 'compute' },
  { op: 'copy', params: { n: 1 }, bound: 'launch' },
]

/** A burst in a round: calls that are not timed, then samples of at least so long. */
const LEAD_NS = 1e6
const SAMPLE_NS = 1e5
const SAMPLES = 5
const MAX_ROUNDS = 400

/** Times of the bursts of each thread count, round by round: medians of their samples, and all samples. */
interface Turns {
  threads: number
  medians: number[]
  samples: number[]
}

/** Goes through the thread counts there and back, a burst of each, until the time is up; at least once both ways. */
async function inRounds(open: readonly { threads: number; prepared: PreparedCase }[], seconds: number): Promise<Turns[]> {
  const all = open.map(({ threads, prepared }) => ({ threads, prepared, medians: [] as number[], samples: [] as number[], once: NaN }))
  for (const one of all) one.once = median((await one.prepared.sample({ mode: 'hot', count: 3, inner: 1 })).samplesNs)!
  const until = performance.now() + seconds * 1000
  for (let round = 0; round < MAX_ROUNDS && (round < 2 || performance.now() < until); round++)
    for (const one of round % 2 === 0 ? all : all.toReversed()) {
      const inner = Math.max(1, Math.round(SAMPLE_NS / one.once))
      const lead = one.once < LEAD_NS ? Math.ceil(LEAD_NS / (inner * one.once)) : 0
      const count = one.once > 20 * LEAD_NS ? 1 : SAMPLES
      const samples = [...(await one.prepared.sample({ mode: 'hot', count: lead + count, inner })).samplesNs].slice(-count)
      one.medians.push(median(samples)!)
      one.samples.push(...samples)
    }
  return all
}

const labelOf = ({ op, params }: Work) => `${op} ${getOp(op).shapeLabel(getOp(op).params.parse(params))}`

/** How operations scale with the threads of a processor: every thread count of a case in interleaved rounds, on the same memory. seconds=80 in all, threads=1,2,4, ops=exp,gelu. */
const bench: Bench = async ({ args, say }) => {
  const cpu = nativeBackends().backends.find(({ id }) => id === 'cpu')
  const device: Device | undefined = (await cpu?.devices())?.[0]
  if (!cpu || !device) throw new Error('the addon has no CPU backend')
  const impl = device.impls.find(({ available, preferred }) => available.ok && preferred)!.id
  const counts = args['threads']?.split(',').map(Number) ?? device.threads.filter((threads) => threads <= Number(device.facts.find(({ name }) => name === 'Physical cores')?.value ?? Infinity))
  const most = Math.max(...counts)
  const until = performance.now() + Number(args['seconds'] ?? 80) * 1000
  const figures: Figure[] = []
  const rows: Record<string, string | number>[] = []
  let copyRate = NaN
  let peakSpeedup = NaN
  const ops = args['ops']?.split(',')
  const chosen = WORK.filter(({ op }) => ops?.includes(op) ?? true)
  for (const [i, work] of chosen.entries()) {
    const left = (until - performance.now()) / 1000
    if (left < 1) {
      say(`no time for ${labelOf(work)}`)
      continue
    }
    const op = getOp(work.op)
    const params = op.params.parse(work.params)
    const open: { threads: number; prepared: PreparedCase }[] = []
    // The first touch of the largest team decides where memory lies; the others use it too.
    for (const threads of [...counts].sort((a, b) => b - a)) {
      const c: BenchmarkCase = { op: work.op, params: work.params, dtype: 'f32', backend: 'cpu', impl, device: device.id, mode: 'hot', threads }
      open.push({ threads, prepared: await cpu.open(problemOf(op, c, 1), undefined, open[0]?.prepared) })
    }
    const turns = await inRounds(open, (until - performance.now()) / 1000 / (chosen.length - i))
    for (const { prepared } of open) await prepared.dispose()
    const single = turns.find(({ threads }) => threads === 1)
    for (const one of turns.toReversed()) {
      const ratios = single ? one.medians.map((ns, round) => single.medians[round]! / ns) : []
      const speedup = median(ratios) ?? NaN
      const interval = medianInterval(ratios)
      const ns = quantile(one.samples, 0.1)!
      const [gbps, gflops] = [op.bytes(params, 'f32') / ns, op.flops(params) / ns]
      rows.push({ case: labelOf(work), bound: work.bound, threads: one.threads, quickNs: ns, medianNs: median(one.samples)!, speedup, low: interval?.low ?? NaN, high: interval?.high ?? NaN, gbps, gflops, rounds: one.medians.length })
      say(`${labelOf(work)} on ${one.threads}: ${speedup.toFixed(2)}x [${interval?.low.toFixed(2)}, ${interval?.high.toFixed(2)}], ${(ns / 1000).toFixed(2)} us, ${gbps.toFixed(1)} GB/s, ${gflops.toFixed(1)} GFLOP/s, ${one.medians.length} rounds`)
      if (one.threads !== most) continue
      if (work.op === 'copy' && work.bound === 'memory') copyRate = gbps
      if (work.op === 'peak_fma') peakSpeedup = speedup
      if (work.bound === 'compute') {
        const isBare = work.op === 'peak_fma'
        figures.push({ name: `${labelOf(work)}: ${most} threads over one`, value: speedup, unit: 'x', published: true, ...(isBare || most < 16 ? {} : { aim: 12, better: 'more' as const }) })
        if (!isBare && peakSpeedup > 0) figures.push({ name: `${labelOf(work)}: of what bare multiply-adds gain in the same run`, value: (speedup / peakSpeedup) * 100, unit: '%', published: true })
      } else if (work.bound === 'memory') figures.push({ name: `${labelOf(work)}: rate on ${most} threads`, value: gbps, unit: 'GB/s', published: true }, ...(work.op === 'copy' ? [] : [{ name: `${labelOf(work)}: of the rate of a copy in the same run`, value: (gbps / copyRate) * 100, unit: '%', aim: 90, better: 'more' as const }]))
      else figures.push({ name: `copy of one element on ${most} threads: waking the team and waiting for it`, value: ns, unit: 'ns', aim: 5000, better: 'less', published: true })
    }
  }
  return { figures: [...figures, loadFigure()], rows, devices: [device] }
}
export default bench
