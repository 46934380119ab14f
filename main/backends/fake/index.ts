import { CaseError, type Backend, type Device, type Impl, type PreparedCase, problemOutputs, type Problem } from '@core/backend'
import { SENTINEL } from '@core/values/numbers'
import { OPS, getOp } from '@core/ops/registry'
import { createRandom } from '@core/stats/random'
import { BEHAVIOURS, isWhole, rightOutputs, vanished, wait, type Behaviour, type FakeOutput } from './behaviours'

const bitsOf = (values: FakeOutput) => new Uint32Array(values.buffer, values.byteOffset, values.length)

export interface FakeOptions {
  /** All times are multiplied by this: makes a session slower than another. */
  factor?: number
  /** What its device says disturbs it. */
  disturbance?: string | undefined
  /** Batches last as long as their times say; else they take no time at all. */
  realTime?: boolean
}

const BYTES_PER_SECOND = 1e10
const LAUNCH_NS = 2000
const TICK_NS = 1

/**
 * A scripted backend for tests: real outputs from the reference, invented times that depend on the case and the seed
 * alone. The implementation says how it behaves (behaviours.ts). Registered only under OPSCOPE_TEST_BACKEND=1.
 */
export function fakeBackend(options: FakeOptions = {}): Backend {
  const { env } = process
  const { factor = Number(env['OPSCOPE_TEST_FACTOR'] ?? 1), disturbance = env['OPSCOPE_TEST_DISTURBANCE'], realTime = env['OPSCOPE_TEST_REAL_TIME'] === '1' } = options
  let gone = false
  return {
    id: 'fake',
    devices: () => Promise.resolve([device(!gone, disturbance)]),
    open: (problem) => {
      const behaviour = BEHAVIOURS[problem.case.impl]
      if (!behaviour) return Promise.reject(new CaseError('unsupported', `The scripted backend has no implementation "${problem.case.impl}"; expected one of ${Object.keys(BEHAVIOURS).join(', ')}.`))
      try {
        if (gone) vanished()
        behaviour.open?.()
        return Promise.resolve(prepare(problem, behaviour, { factor, realTime }, () => (gone ||= behaviour.takesDevice === true)))
      } catch (error) {
        return Promise.reject(error)
      }
    },
  }
}

function prepare(problem: Problem, behaviour: Behaviour, { factor, realTime }: { factor: number; realTime: boolean }, onSample: () => void): PreparedCase {
  const { case: c } = problem
  let right = rightOutputs(problem, problem.seed)
  let first: FakeOutput | undefined
  const outputs = problemOutputs(problem).map(({ elements, storage }): FakeOutput => (isWhole(storage) ? new Int32Array(elements) : new Float32Array(elements)))
  // Kept as four bytes whatever the storage type: one pattern, told apart from other NaN by its bits.
  const sentinel = SENTINEL.f32
  const op = getOp(c.op)
  const baseNs = (LAUNCH_NS + (op.bytes(op.params.parse(c.params), c.dtype) / BYTES_PER_SECOND) * 1e9) * factor * (c.mode === 'cold' ? 1.5 : 1)
  const random = createRandom(problem.seed)
  const time = behaviour.time ?? ((_i, next) => 1 + 0.004 * (next() - 0.5))
  const write = behaviour.write ?? ((to: FakeOutput, from: FakeOutput) => to.set(from))
  const call = (how: typeof write) =>
    outputs.forEach((out, i) => {
      if (i === 0) how(out, right[0]!, { problem, first: (first ??= right[0]!) })
      else out.set(right[i]!)
    })
  const state = behaviour.state ?? (() => ({ smClockMhz: 1000 }))
  let taken = 0
  let batches = 0
  return {
    timer: 'scripted',
    tickNs: TICK_NS,
    notes: ['Scripted times: this is not a measurement.'],
    refill: (seed) => Promise.resolve(void (right = rightOutputs(problem, seed))),
    poison: () => Promise.resolve(outputs.forEach((out) => bitsOf(out).fill(sentinel))),
    run: () => Promise.resolve(call(write)),
    scan: () =>
      Promise.resolve(
        outputs.map((out) => {
          const unwritten = bitsOf(out).reduce((sum, bits) => sum + (bits === sentinel ? 1 : 0), 0)
          const notFinite = Array.from(out).filter((value) => !Number.isFinite(value)).length
          return { unwritten, nonFinite: out instanceof Int32Array ? 0 : notFinite - unwritten }
        }),
      ),
    read: (output, start, count) => Promise.resolve(outputs[output]!.slice(start, start + count)),
    sample: async ({ count, inner }) => {
      onSample()
      await behaviour.sample?.()
      call(behaviour.writeTimed ?? write)
      const from = taken
      taken += count
      const each = (value: (i: number) => number) => Float64Array.from({ length: count }, (_, i) => value(from + i))
      const samplesNs = each((i) => baseNs * time(i, random))
      if (realTime) await wait((samplesNs.reduce((sum, ns) => sum + ns, 0) * inner) / 1e6)
      return {
        samplesNs,
        inner,
        state: state(batches++),
        ...(behaviour.clockMhz ? { clockMhz: each(behaviour.clockMhz) } : {}),
        ...(behaviour.probeNs ? { probeNs: each(behaviour.probeNs) } : {}),
      }
    },
    memory: () => ({ caseBytes: outputs.reduce((sum, out) => sum + out.byteLength, 0) }),
    dispose: () => Promise.resolve(),
  }
}

function device(present: boolean, disturbance: string | undefined): Device {
  const kernels = Object.fromEntries(OPS.map((op) => [op.id, [...op.dtypes]]))
  const impls = Object.entries(BEHAVIOURS).map(([id, { title }]): Impl => ({ id, title, available: { ok: true }, kernels, preferred: id === 'steady' }))
  return {
    backend: 'fake', id: 'fake:0', name: 'Scripted device', available: present ? { ok: true } : { ok: false, reason: 'the scripted device is gone' }, impls, modes: ['hot', 'cold', 'rotated'], threads: [], memoryBytes: 2 ** 30, software: true, facts: [],
    warnings: ['Times are invented.'],
    ...(disturbance ? { disturbances: [disturbance] } : {}),
  }
}
