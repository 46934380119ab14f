import { CaseError, problemInputs, problemOutputs, type Problem } from '@core/backend'
import type { Gpu } from '../gpu/gpu'
import type { LibraryPlace } from '../kernels/registry'
import type { Memory } from '../sets/memory'
import type { Calls } from '../timing/calls'
import { recordDispatches, replay } from './record'
import { LIBRARY_OPS } from './table'

/** Calls that the time of one through the library is taken from: as many as fit into HOST_MS, one at least. */
const HOST_CALLS = 16
const HOST_MS = 2000
/** A library that computes longer than this on one call is refused: some algorithms grow with the square of a size, and the page could do nothing else meanwhile. */
const CALL_LIMIT_MS = 10_000

const middleOf = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!

/** Waits for a call, or for the device to finish it. Throws a CaseError where that takes longer than one call may: one after which the page is replaced, because its device is busy on. */
async function limited(title: string, work: Promise<unknown>): Promise<void> {
  let late: ReturnType<typeof setTimeout> | undefined
  const limit = new Promise<never>((_, reject) => {
    late = setTimeout(() => reject(new CaseError('kernel-failed', `One call of ${title} takes longer than ${CALL_LIMIT_MS / 1000} s on this device; choose a smaller size.`)), CALL_LIMIT_MS)
  })
  try {
    await Promise.race([work, limit])
  } finally {
    clearTimeout(late)
  }
}

/** What `timing` needs of a library's case: its kernels as calls, and beside them what a call takes the page. */
export interface BoundLibrary {
  calls: Calls
  /** Time in ns that the page takes for one call through the library: the median of at most 16, which ends when the commands are in the queue. */
  hostCallNs: number
  dispose(): Promise<void>
}

/**
 * Calls the library once and keeps the dispatches of that call. They are what is verified and timed, by the same clock as our
 * kernels and without the library's own work on the host. The memory's output becomes the buffer that the library writes.
 * Passes need no fence of ours: the output is written in each of them, which makes the device finish the one before.
 */
export async function bindLibrary(gpu: Gpu, { library, address }: LibraryPlace, problem: Problem, memory: Memory): Promise<BoundLibrary> {
  const { op: id, mode } = problem.case
  if (mode === 'rotated') throw new CaseError('unsupported', `${library.title} is measured on one set of buffers; choose cold or hot.`)
  const op = LIBRARY_OPS[id]!
  const shape = { dtype: problem.case.dtype, dims: problem.dims, scalars: problem.scalars }
  const shapes = op.shapes(shape)
  if (!shapes) throw new CaseError('unsupported', `${library.title} has no such variant of ${id}.`)
  const set = memory.sets[0]!
  const typeOf = (storage: string) => (storage === 'i32' ? 'int32' : 'float32')
  const inputs = problemInputs(problem).map(({ storage }, i) => ({ buffer: set.inputs[i]!.buffer, shape: shapes.inputs[i]!, type: typeOf(storage) } as const))
  const output = { buffer: set.outputs[0]!.buffer, shape: shapes.output, type: typeOf(problemOutputs(problem)[0]!.storage) } as const
  // Chromium 130 has it on the adapter alone; libraries look for it on the device.
  if (!('adapterInfo' in gpu.device)) Object.defineProperty(gpu.device, 'adapterInfo', { value: gpu.adapter.info })
  const opened = await library.open(gpu.device, { shape, op, inputs, output }, address)
  try {
    const done = () => limited(library.title, gpu.device.queue.onSubmittedWorkDone())
    await limited(library.title, opened.call())
    await done()
    const hostCallsNs: number[] = []
    for (const until = performance.now() + HOST_MS; hostCallsNs.length === 0 || (hostCallsNs.length < HOST_CALLS && performance.now() < until); ) {
      const from = performance.now()
      await opened.call()
      hostCallsNs.push((performance.now() - from) * 1e6)
      await done()
    }
    const dispatches = await recordDispatches(() => opened.call())
    await done()
    if (dispatches.length === 0) throw new CaseError('unsupported', `${library.title} computes this without a kernel on the GPU.`)
    for (const [i, buffer] of (opened.outputs?.() ?? []).entries()) {
      const before = set.outputs[i]!
      before.buffer.destroy()
      set.outputs[i] = { ...before, buffer }
    }
    return {
      calls: {
        dispatches: dispatches.length,
        encode(pass, count) {
          for (let call = 0; call < count; call++) replay(pass, dispatches)
        },
      },
      hostCallNs: middleOf(hostCallsNs),
      dispose: () => opened.dispose(),
    }
  } catch (error) {
    await opened.dispose()
    throw error
  }
}
