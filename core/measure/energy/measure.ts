import { CaseError, type EnergyMeter, type PreparedCase } from '../../backend'
import type { Mode } from '../../case'
import type { Energy } from '../../result'
import { CancelledError } from '../sampling/sampler'
import { energyOf, energyWindows, meanWatts, WINDOW_SECONDS, WINDOWS, type CallMark } from './windows'

/** Batches as long as this: a cancel comes through between them, and what lies between them costs little. */
const BATCH_NS = 500e6
/** A graph of calls as long as this at most. */
const GRAPH_NS = 20e6
/** The power that drivers tell is a mean over a second: as long as this the load lasts before the first window. */
const SETTLE_SECONDS = 1.5
/** The load lasts so much longer than its windows: ticks are up to 0.1 s apart, and each window begins on one. */
const SPARE_SECONDS = 1.5
/** A device that has just worked cools down and lowers its clocks before it counts as idle. */
const REST_SECONDS = 3
const IDLE_SECONDS = 2
/** Where calls fill less of the time than this, waiting is a part of their energy, and the result says so. */
const BUSY_SHARE = 0.95

/** How a note begins that says why a result has no energy. */
export const NO_ENERGY = 'No energy per call'

export interface EnergyRequest {
  prepared: PreparedCase
  /** Median time of a call, to begin with. */
  callNs: number
  /** Idle power of devices by backend and id, in watts, as this process has measured it. */
  idle: Map<string, number>
  device: string
  /** Monotonic, in ms. */
  now: () => number
  signal?: AbortSignal
  onBatch: () => void
}

const rest = (seconds: number) => new Promise<void>((resolve) => setTimeout(resolve, seconds * 1000))

/**
 * Energy of one call: the device computes without rest for five windows of 2 s or more, in graphs of calls where it has them, so that
 * the host's time to issue a call leaves no gaps. Resolves with the energy, or with the reason why there is none. Throws where the case is cancelled or
 * the kernel or its device failed.
 */
export async function measureEnergy(request: EnergyRequest): Promise<{ energy: Energy; notes: string[] } | { reason: string }> {
  const { prepared, signal } = request
  const meter = prepared.energyMeter?.()
  if (!meter) return { reason: 'This backend cannot read an energy counter.' }
  if ('reason' in meter) return meter
  try {
    const idleWatts = await idlePower(meter, request)
    const { marks, busy, mode, trace } = await load(meter, request)
    if (signal?.aborted) throw new CancelledError()
    const energy = energyOf(energyWindows(trace, marks), trace.source, idleWatts)
    if (!energy) return { reason: 'The energy counter of the device did not move often enough for five windows of 2 s.' }
    const notes = [
      ...(mode === 'graph' ? ['Energy: the calls ran in CUDA graphs.'] : []),
      ...(busy < BUSY_SHARE ? [`Energy: calls filled ${(busy * 100).toFixed(0)} % of the time; the rest, waiting for the host, is in the energy of a call.`] : []),
    ]
    return { energy, notes }
  } catch (error) {
    if (error instanceof CancelledError || endsProcess(error)) throw error
    return { reason: `The energy of a call could not be measured: ${error instanceof Error ? error.message : String(error)}` }
  }
}

async function idlePower(meter: EnergyMeter, { idle, device, signal, onBatch }: EnergyRequest): Promise<number | undefined> {
  const known = idle.get(device)
  if (known !== undefined) return known
  await rest(REST_SECONDS)
  if (signal?.aborted) throw new CancelledError()
  onBatch()
  await meter.start()
  await rest(IDLE_SECONDS)
  const watts = meanWatts(await meter.stop())
  if (watts !== undefined) idle.set(device, watts)
  return watts
}

interface Load {
  marks: CallMark[]
  /** Share of the time that calls filled. */
  busy: number
  mode: Mode
  trace: Awaited<ReturnType<EnergyMeter['stop']>>
}

/** Calls without rest, and the counter meanwhile. */
async function load(meter: EnergyMeter, { prepared, callNs, now, signal, onBatch }: EnergyRequest): Promise<Load> {
  let each = Math.max(1, callNs)
  /** Queues of devices take only so many calls at once. */
  let most = 1_000_000
  const untimed = async () => {
    const calls = Math.max(1, Math.round(BATCH_NS / each))
    const from = now()
    await prepared.runCalls!(calls, callNs)
    const ns = (now() - from) * 1e6
    each = Math.max(1, ns / calls)
    return { calls, ns: Math.min(ns, calls * callNs) }
  }
  const batch = async (mode: Mode) => {
    if (prepared.runCalls) return untimed()
    const perSample = mode === 'graph' ? GRAPH_NS : BATCH_NS
    const inner = Math.max(1, Math.min(most, Math.round(perSample / each)))
    const taken = await prepared.sample({ mode, count: Math.max(1, Math.round(BATCH_NS / (inner * each))), inner })
    if (taken.inner < inner) most = taken.inner
    const calls = taken.samplesNs.length * taken.inner
    const ns = taken.samplesNs.reduce((sum, one) => sum + one * taken.inner, 0)
    each = Math.max(1, ns / calls)
    return { calls, ns }
  }
  const mode = meter.graphs ? await steadyMode(batch) : 'hot'
  await meter.start()
  try {
    const from = now()
    const marks: CallMark[] = [{ ms: 0, calls: 0 }]
    let calls = 0
    let busyNs = 0
    const until = (SETTLE_SECONDS + WINDOWS * WINDOW_SECONDS + SPARE_SECONDS) * 1000
    while (marks.at(-1)!.ms < until) {
      const one = await batch(mode)
      calls += one.calls
      busyNs += one.ns
      marks.push({ ms: now() - from, calls })
      onBatch()
      if (signal?.aborted) throw new CancelledError()
    }
    const settled = marks.filter(({ ms }) => ms >= SETTLE_SECONDS * 1000)
    return { marks: settled, busy: busyNs / 1e6 / marks.at(-1)!.ms, mode, trace: await meter.stop() }
  } catch (error) {
    await meter.stop()
    throw error
  }
}

/** Whether the process has to be replaced, so that the case fails as it would in any other phase. */
const endsProcess = (error: unknown): boolean => error instanceof CaseError && (error.code === 'device-lost' || error.code === 'kernel-failed')

/** Graphs where the device records them, else calls one by one. */
async function steadyMode(batch: (mode: Mode) => Promise<unknown>): Promise<Mode> {
  try {
    await batch('graph')
    return 'graph'
  } catch (error) {
    if (!(error instanceof CaseError) || endsProcess(error)) throw error
    return 'hot'
  }
}
