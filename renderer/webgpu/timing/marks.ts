import type { Gpu } from '../gpu/gpu'
import { marksIn, type Mark } from './arithmetic'

/** Timestamps of one submission at most. */
export const MAX_MARKS = 1024
/** Submissions on their way at once at most. */
export const MAX_SUBMISSIONS = 4

/** Timestamps on the compute passes of one submission, resolved and read at once. */
export interface TimestampSet {
  /** The pass writes its begin and end to slots `2 * pass` and `2 * pass + 1`. */
  on(pass: number): GPUComputePassTimestampWrites
  /** Submits the encoder's commands, does `then`, and returns the first `2 * passes` timestamps, see `marksIn`. The lane is free again afterwards. */
  submit(encoder: GPUCommandEncoder, passes: number, then?: () => void): Promise<Mark[]>
}

export interface Marks {
  /** A lane that no submission uses. Throws where all do. */
  lane(): TimestampSet
}

export function createMarks(gpu: Gpu): Marks {
  const free = Array.from({ length: MAX_SUBMISSIONS }, () => createLane(gpu, (lane) => free.push(lane)))
  return {
    lane() {
      const lane = free.pop()
      if (!lane) throw new Error(`all ${MAX_SUBMISSIONS} submissions that can be timed at once are on their way`)
      return lane
    },
  }
}

function createLane({ device }: Gpu, giveBack: (lane: TimestampSet) => void): TimestampSet {
  const querySet = device.createQuerySet({ type: 'timestamp', count: MAX_MARKS })
  const resolved = device.createBuffer({ size: MAX_MARKS * 8, usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC })
  const staging = device.createBuffer({ size: MAX_MARKS * 8, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ })
  const lane: TimestampSet = {
    on: (pass) => ({ querySet, beginningOfPassWriteIndex: 2 * pass, endOfPassWriteIndex: 2 * pass + 1 }),
    async submit(encoder, passes, then) {
      const bytes = passes * 16
      try {
        encoder.resolveQuerySet(querySet, 0, 2 * passes, resolved, 0)
        encoder.copyBufferToBuffer(resolved, 0, staging, 0, bytes)
        device.queue.submit([encoder.finish()])
        then?.()
        await staging.mapAsync(GPUMapMode.READ, 0, bytes)
        const marks = marksIn(new BigUint64Array(staging.getMappedRange(0, bytes)))
        staging.unmap()
        return marks
      } finally {
        giveBack(lane)
      }
    },
  }
  return lane
}
