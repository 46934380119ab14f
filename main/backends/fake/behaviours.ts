import { CaseError, problemInputs, problemOutputs, type DeviceState, type Problem } from '@core/backend'
import { roundToStorage } from '@core/values/numbers'
import type { StorageType } from '@core/case'
import { getOp } from '@core/ops/registry'
import { fillRange, mix32 } from '@core/values/random'
import { normal, type Random } from '@core/stats/random'

/** An output in the scripted backend's memory: floats of every storage type as f32, integers as i32. */
export type FakeOutput = Float32Array | Int32Array

/** The right outputs of a problem, rounded to their storage types, from inputs of `seed`. */
export function rightOutputs(problem: Problem, seed: number): FakeOutput[] {
  const op = getOp(problem.case.op)
  const inputs = problemInputs(problem)
  const read = (input: number, start: number, count: number) => fillRange(seed, input, inputs[input]!.fill!, inputs[input]!.storage, start, count)
  return problemOutputs(problem).map(({ elements, storage }, output) => {
    const params = op.params.parse(problem.case.params)
    const keepRate = op.keepRate?.(params) ?? 1
    // What a random op keeps is drawn from the seed; its reference then is that of what was kept.
    const kept = keepRate < 1 ? Float32Array.from({ length: elements }, (_, i) => (mix32((seed + i) >>> 0) / 2 ** 32 < keepRate ? Infinity : 0)) : undefined
    const right = op.reference(params, read, 0, elements, output, kept)
    return isWhole(storage) ? Int32Array.from(right) : roundToStorage(Float32Array.from(right), storage)
  })
}

/** Whether elements of a storage type are integers. */
export const isWhole = (storage: StorageType): boolean => storage === 'i32' || storage === 'i8' || storage === 'u8'

/** What a call may look at besides the right output of the inputs as they are. */
export interface Call {
  problem: Problem
  /** The right output of the first call of the case. */
  first: FakeOutput
}

/** Writes the first output; others are always right. */
type Write = (out: FakeOutput, right: FakeOutput, call: Call) => void

/** What an implementation of the scripted backend does. All are honest and steady but for what they say. */
export interface Behaviour {
  title: string
  /** Happens when the case is opened. */
  open?: () => void
  /** Writes the output of one call; default: the right one. */
  write?: Write
  /** Writes the output of timed calls; default: as `write`. */
  writeTimed?: Write
  /** Happens in each batch of samples. */
  sample?: () => Promise<void> | void
  /** Time of sample `i` relative to the case's base time; default: 0.2 % noise. */
  time?: (i: number, random: Random) => number
  /** State of the device during batch `i`; default: its clock at 1000 MHz. */
  state?: (i: number) => DeviceState
  /** SM clock in MHz, and time of the fixed piece of work in ns, beside sample `i`; default: not known. */
  clockMhz?: (i: number) => number
  probeNs?: (i: number) => number
  /** The device is gone for every later case too. */
  takesDevice?: true
}

/** Blocks this thread for good, as a kernel that never returns does. */
function block(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

/** One of twenty samples, spread unevenly. */
const seldom = (i: number) => (i * 7) % 20 === 3
const jitter = (random: Random) => 1 + 0.002 * normal(random)

export const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** By implementation id. */
export const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  steady: { title: 'Steady' },
  noisy: { title: 'Noisy', time: (_i, random) => 1 + 0.3 * Math.abs(normal(random)) },
  bimodal: { title: 'Two modes', time: (_i, random) => (random() < 0.7 ? 1 : 1.4) * (1 + 0.002 * normal(random)) },
  // Whatever the draw, the median of six samples is that of the short ones, and their interval reaches to the long ones.
  'third-slow': { title: 'Every third sample takes longer', time: (i, random) => (i % 3 === 1 ? 1.4 : 1) * jitter(random) },
  drifting: { title: 'Drifting', time: (i, random) => (1 + i / 500) * (1 + 0.002 * normal(random)) },
  throttled: { title: 'On a throttled device', time: (_i, random) => 1.3 * jitter(random), state: () => ({ smClockMhz: 1000, throttle: ['power limit'] }) },
  'part-throttled': { title: 'On a device that is throttled in every eighth batch', state: (i) => ({ smClockMhz: 1000, throttle: i % 8 === 5 ? ['power limit'] : [] }) },
  'slow-clock': { title: 'On a clock that falls for one of twenty samples', time: (i, random) => (seldom(i) ? 1.6 : 1) * jitter(random), clockMhz: (i) => (seldom(i) ? 1200 : 1980) },
  'host-slowed': { title: 'On a host that is slow for one of twenty samples', time: (i, random) => (seldom(i) ? 2.5 : 1) * jitter(random), probeNs: (i) => (seldom(i) ? 1250 : 500) },
  'shared-core': { title: 'Beside another program on the same core', time: (_i, random) => 1.15 * jitter(random), probeNs: () => 580, state: () => ({ probeBestNs: 500 }) },
  disturbed: { title: 'Beside another process', state: () => ({ smClockMhz: 1000, foreignProcesses: 1 }) },
  slow: { title: 'Slow: each batch takes 0.2 s', sample: () => wait(200) },

  noop: { title: 'Writes nothing', write: () => undefined },
  half: { title: 'Writes the first half', write: (out, right) => out.set(right.subarray(0, right.length >> 1)) },
  nan: {
    title: 'Writes one NaN',
    write: (out, right) => {
      out.set(right)
      out[out.length >> 1] = NaN
    },
  },
  zeros: { title: 'Writes zeros', write: (out) => out.fill(0) },
  'other-seed': { title: 'Returns the output of other inputs', write: (out, _right, { problem }) => out.set(rightOutputs(problem, problem.seed + 7)[0]!) },
  stale: { title: 'Returns its first output again and again', write: (out, _right, { first }) => out.set(first) },
  lower: { title: 'Computes in f16', write: (out, right) => out.set(roundToStorage(Float32Array.from(right), 'f16')) },
  shifted: { title: 'Writes one element late', write: (out, right) => out.set([right[0]!, ...right.subarray(0, -1)]) },
  lazy: { title: 'Writes nothing when timed', writeTimed: () => undefined },
  cheat: { title: 'Writes zeros when timed', writeTimed: (out) => out.fill(0) },

  unsupported: { title: 'Refuses', open: () => fail('unsupported', 'This device has no kernel for it.') },
  fail: { title: 'Fails', open: () => fail('kernel-failed', 'The kernel could not be launched.', 'fake: launch failure (719)') },
  oom: { title: 'Runs out of memory', open: () => fail('out-of-memory', 'The device has 1 GiB free; 8 GiB are needed.', 'fake: alloc: 2') },
  lost: { title: 'Loses its device', sample: () => fail('device-lost', 'The device was lost.', 'fake: GPU is off the bus (79)') },
  vanish: { title: 'Loses its device for good', takesDevice: true, sample: vanished },
  hang: { title: 'Hangs', sample: block },
  exit: { title: 'Ends the process', sample: () => process.exit(3) },
  crash: { title: 'Crashes the process', sample: () => void process.kill(process.pid, 'SIGSEGV') },
}

/** How the driver tells of a device that is gone. */
export function vanished(): never {
  return fail('device-lost', 'The device is gone.', 'fake: no such device (100)')
}

function fail(...problem: ConstructorParameters<typeof CaseError>): never {
  throw new CaseError(...problem)
}
