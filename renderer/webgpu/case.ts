import { CaseError, problemOutputs, type MemoryUse, type OutputScan, type PreparedCase, type Problem } from '@core/backend'
import { guarded, type Gpu } from './gpu/gpu'
import { maxTensorBytes, poisonTensors, readTensor, scanTensors } from './gpu/tensors'
import { bindLibrary, type BoundLibrary } from './libraries/bind'
import { programInParts } from './kernels/in-parts'
import type { Implementation } from './kernels/registry'
import { runs, type Program } from './kernels/types'
import { hostWatch } from './host'
import { withConstants } from './wgsl/constants'
import { bind, createRing, type Ring } from './sets/bind'
import { allocate, fillInputs, release, sizeOf, type Memory } from './sets/memory'
import { MAX_CALLS, samplesPerSubmission, type Calls } from './timing/calls'
import type { Clock } from './timing/clock'
import { watchCase, watchEnergy } from './watch/watch'

/** Submissions of untimed calls that wait for the device, each so much longer than a timed one: the device does not rest until the page hears that one is done. */
const SUBMISSIONS_AHEAD = 3
const UNTIMED_LENGTH = 4
/** Integers reach the kernels as u32. */
const MAX_U32 = 0xffff_ffff

/** The steps of a problem. Throws a CaseError where there is no kernel for it. */
function programFor(problem: Problem, { kernels }: Implementation, gpu: Gpu): Program {
  const { device, subgroups, matrices, threads } = gpu
  const { op, dtype, mode } = problem.case
  const kernel = kernels.get(op)
  if (!kernel) throw new CaseError('unsupported', `There is no WGSL kernel for "${op}".`)
  if (!kernel.dtypes.includes(dtype)) throw new CaseError('unsupported', `The WGSL kernel of "${op}" has no ${dtype}; it has ${kernel.dtypes.join(', ')}.`)
  if (!runs(kernel, dtype, device.features.has('shader-f16'))) throw new CaseError('unsupported', 'This WebGPU adapter has no shader-f16, which these f16 kernels need; the implementation wgsl-f16-emulated needs none.')
  if (mode === 'graph') throw new CaseError('unsupported', 'WebGPU has no graphs of calls; choose cold, hot or rotated.')
  const large = problem.dims.find((dim) => dim > MAX_U32)
  if (large !== undefined) throw new CaseError('unsupported', `The WGSL kernels take extents of up to ${MAX_U32}; this case has one of ${large}. Choose a smaller size.`)
  return withConstants(programInParts(kernel, { dtype, dims: problem.dims, scalars: problem.scalars, subgroups, matrices, threads, workgroupBytes: device.limits.maxComputeWorkgroupStorageSize }, problem.tensors, maxTensorBytes(gpu)))
}

function notesFor(problem: Problem, clock: Clock, memory: Memory): string[] {
  const notes: string[] = []
  if (clock.timer === 'wall-clock') notes.push('Timed with the page\'s clock: the adapter has no timestamp queries, so submission and waiting are in every time.')
  if (clock.quantized) notes.push('Chromium rounded the timestamps to 65.536 µs.')
  if (problem.case.mode === 'cold' && clock.passCostNs !== undefined) {
    notes.push(`A cold call is timed in a compute pass of its own; a pass alone costs about ${+(clock.passCostNs / 1000).toPrecision(2)} µs on this device.`)
  }
  if (memory.sets.length > 1) notes.push(`The calls rotated through ${memory.sets.length} sets of buffers.`)
  return notes
}

/** Allocates, compiles and fills one case. Throws a CaseError and leaves nothing behind when any of it fails. */
export async function openCase(gpu: Gpu, clock: Clock, implementation: Implementation, problem: Problem): Promise<PreparedCase> {
  const program = programFor(problem, implementation, gpu)
  let memory: Memory | undefined
  let library: BoundLibrary | undefined
  try {
    // Kept outside: what the device reports of an allocation comes after the buffers are made, and they must go.
    await guarded(gpu, 'allocating the tensors', async () => void (memory = allocate(gpu, problem, program, clock.cache.bytes)))
    const allocated = memory!
    const ring = createRing(allocated.sets.length)
    // Before a library is called: indices must be in range.
    await fillInputs(gpu, problem, allocated, problem.seed)
    const { library: place } = implementation
    if (place) library = await guarded(gpu, `preparing ${place.library.title}`, () => bindLibrary(gpu, place, problem, allocated))
    const [compiled, from] = [gpu.compiled, performance.now()]
    const calls = library?.calls ?? (await guarded(gpu, 'compiling the kernel', () => bind(gpu, program, allocated, ring)))
    const compileMs = gpu.compiled > compiled ? performance.now() - from : undefined
    return prepared(gpu, clock, problem, allocated, { ring, calls, library, compileMs })
  } catch (error) {
    await library?.dispose()
    if (memory) release(memory)
    throw error
  }
}

/** The work of a case: whose turn it is, its calls, the library behind them, and how long its new pipelines took to compile, in ms. */
interface Work {
  ring: Ring
  calls: Calls
  library: BoundLibrary | undefined
  compileMs: number | undefined
}

function prepared(gpu: Gpu, clock: Clock, problem: Problem, memory: Memory, { ring, calls, library, compileMs }: Work): PreparedCase {
  const timer = clock.forCase(calls)
  const notes = notesFor(problem, clock, memory)
  if (compileMs !== undefined) notes.push(`Chromium compiled the pipelines in ${+compileMs.toPrecision(2)} ms before the first call; later cases of the same kernel reuse them.`)
  if (library) notes.push(`One call through the library was recorded (${calls.dispatches === 1 ? '1 dispatch' : `${calls.dispatches} dispatches`}); its kernels are timed without the library. The launch overhead is the time that the page takes for a call through the library.`)
  const watched = watchCase(gpu, hostWatch())
  const outputs = problemOutputs(problem)
  const outputOf = (set: number, output: number) => memory.sets[set]!.outputs[output]!
  const read = (output: number, ranges: readonly { start: number; count: number }[]) => guarded(gpu, 'reading the output', () => readTensor(gpu, outputOf(ring.last, output), ranges))
  return {
    timer: clock.timer,
    tickNs: clock.tickNs,
    get notes() {
      return [...notes, ...timer.notes()]
    },
    refill: (seed) => fillInputs(gpu, problem, memory, seed),
    poison: () =>
      guarded(gpu, 'marking the output', async () => {
        ring.forget()
        for (const [i, { role }] of outputs.entries()) if (role === 'out') await poisonTensors(gpu, memory.sets.map((_set, set) => outputOf(set, i)))
      }),
    run: () =>
      guarded(gpu, 'running the kernel', async () => {
        const encoder = gpu.device.createCommandEncoder()
        const pass = encoder.beginComputePass()
        calls.encode(pass, 1)
        pass.end()
        gpu.device.queue.submit([encoder.finish()])
        await gpu.device.queue.onSubmittedWorkDone()
      }),
    scan: () =>
      guarded(gpu, 'searching the output for unwritten elements', async () => {
        const scans: OutputScan[] = []
        for (const i of outputs.keys()) {
          const used = ring.used()
          const { unwritten, nonFinite } = await scanTensors(gpu, used.map((set) => outputOf(set, i)))
          scans.push({ unwritten, nonFinite: used.length > 1 ? (await scanTensors(gpu, [outputOf(ring.last, i)])).nonFinite : nonFinite })
        }
        return scans
      }),
    read: async (output, start, count) => (await read(output, [{ start, count }]))[0]!,
    readRanges: read,
    async sample({ mode, count, inner }) {
      const { state, ...taken } = await guarded(gpu, 'timing the kernel', () => watched(count, () => (mode === 'cold' ? timer.cold(count) : timer.hot(count, inner))))
      return { ...taken, state: await state, ...(library ? { hostCallNs: library.hostCallNs } : {}) }
    },
    runCalls: (count, nsPerCall) =>
      guarded(gpu, 'running the kernel', async () => {
        const flights: Promise<undefined>[] = []
        for (let left = count; left > 0; ) {
          const each = samplesPerSubmission(left, MAX_CALLS, nsPerCall / UNTIMED_LENGTH, calls.dispatches)
          left -= each
          const encoder = gpu.device.createCommandEncoder()
          const pass = encoder.beginComputePass()
          calls.encode(pass, each)
          pass.end()
          gpu.device.queue.submit([encoder.finish()])
          flights.push(gpu.device.queue.onSubmittedWorkDone())
          // The next submissions are on their way while the device works on this one.
          if (flights.length > SUBMISSIONS_AHEAD) await flights.shift()
        }
        await Promise.all(flights)
      }),
    energyMeter: () => watchEnergy(gpu, hostWatch()),
    memory: (): MemoryUse => ({ caseBytes: sizeOf(memory) }),
    async dispose() {
      await library?.dispose()
      release(memory)
    },
  }
}
