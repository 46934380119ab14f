import { CaseError, problemInputs, problemOutputs, type Backend, type DeviceState, type PreparedCase, type Problem } from '../backend'
import type { BenchmarkCase } from '../case'
import { fillRange } from '../values/random'
import { fromHostSchema, type FromHost } from './protocol'
import { serve } from './serve'
import { PRESETS } from './settings'

export const settings = { ...PRESETS.quick, minSeconds: 0.001, maxSeconds: 0.05, maxWarmupSeconds: 0.001 }
export const add: BenchmarkCase = { op: 'add', params: { n: 1000 }, dtype: 'f32', backend: 'memory', impl: 'js', device: 'memory', mode: 'hot' }

/** A clock that goes on by 10 us each time it is read: what a loaded machine takes away must not decide what is opened again or how many bursts there are. */
export const clock = { ms: 0 }
export const now = () => (clock.ms += 0.01)

/** An honest backend in plain memory: enough to drive the protocol. */
export function memoryBackend(log: string[], sampleNs = 1000, onSample: (impl: string, count: number) => void = () => undefined, state: () => DeviceState = () => ({})): Backend {
  const open = async (problem: Problem): Promise<PreparedCase> => {
    log.push('open')
    const { impl } = problem.case
    if (impl === 'broken' || impl === 'oversized') log.push('refused')
    if (impl === 'broken') throw new Error('no such implementation')
    if (impl === 'oversized') throw new CaseError('out-of-memory', 'no memory')
    const out = new Float32Array(problemOutputs(problem)[0]!.elements)
    let seed = problem.seed
    const run = async () => {
      const [a, b] = problemInputs(problem).map(({ fill, storage, elements }, i) => fillRange(seed, i, fill!, storage, 0, elements))
      for (let i = 0; i < out.length; i++) out[i] = a![i]! + b![i]!
      if (impl === 'wrong') out[500]! += 1
    }
    return {
      timer: 'scripted', tickNs: 1, notes: [],
      refill: async (next) => void (seed = next),
      poison: async () => void out.fill(NaN),
      run,
      scan: async () => [{ unwritten: out.filter(Number.isNaN).length, nonFinite: 0 }],
      read: async (_output, start, count) => out.slice(start, start + count),
      sample: async ({ count, inner }) => {
        if (impl === 'throws') throw new CaseError('kernel-failed', 'the kernel failed')
        await run()
        onSample(impl, count)
        return { samplesNs: new Float64Array(count).fill(sampleNs), inner, state: state() }
      },
      memory: () => ({ caseBytes: 12000 }),
      dispose: async () => void log.push('dispose'),
    }
  }
  return { id: 'memory', devices: async () => [], open }
}

export function host(backends: readonly Backend[], refuses: (message: FromHost) => boolean = () => false) {
  const messages: FromHost[] = []
  const faults: string[] = []
  const waiting: { test: (m: FromHost) => boolean; resolve: (m: FromHost) => void }[] = []
  let deliver: (message: unknown) => void = () => undefined
  const send = (message: FromHost) => {
    if (refuses(message)) throw new Error('the channel takes no message')
    messages.push(fromHostSchema.parse(structuredClone(message)))
    for (const entry of waiting.filter((w) => w.test(message))) entry.resolve(message)
  }
  serve(backends, { send, onMessage: (listener) => void (deliver = listener) }, { onFault: (reason) => faults.push(reason), now })
  const wait = (test: (m: FromHost) => boolean) => {
    const already = messages.find(test)
    return already ? Promise.resolve(already) : new Promise<FromHost>((resolve) => waiting.push({ test, resolve }))
  }
  return { messages, faults, deliver: (m: unknown) => deliver(m), answer: (id: number) => wait((m) => 'id' in m && m.id === id && m.type !== 'progress'), wait }
}
