import type { Gpu } from '../gpu/gpu'
import { marksIn, type Mark } from './arithmetic'

/** Most timestamps of one submission: the largest query set WebGPU has. */
export const MAX_MARKS = 4096

/** Timestamps on compute passes of one submission, resolved and read at once. */
export interface Marks {
  /** The pass writes its begin and end to slots `2 * pass` and `2 * pass + 1`. */
  on(pass: number): GPUComputePassTimestampWrites
  /** Submits the encoder's commands, does `then`, and returns the first `2 * passes` timestamps, see `marksIn`. */
  submit(encoder: GPUCommandEncoder, passes: number, then?: () => void): Promise<Mark[]>
  destroy(): void
}

export function createMarks({ device }: Gpu): Marks {
  const querySet = device.createQuerySet({ type: 'timestamp', count: MAX_MARKS })
  const resolved = device.createBuffer({ size: MAX_MARKS * 8, usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC })
  const staging = device.createBuffer({ size: MAX_MARKS * 8, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ })
  return {
    on: (pass) => ({ querySet, beginningOfPassWriteIndex: 2 * pass, endOfPassWriteIndex: 2 * pass + 1 }),
    async submit(encoder, passes, then) {
      const bytes = passes * 16
      encoder.resolveQuerySet(querySet, 0, 2 * passes, resolved, 0)
      encoder.copyBufferToBuffer(resolved, 0, staging, 0, bytes)
      device.queue.submit([encoder.finish()])
      then?.()
      await staging.mapAsync(GPUMapMode.READ, 0, bytes)
      const marks = marksIn(new BigUint64Array(staging.getMappedRange(0, bytes)))
      staging.unmap()
      return marks
    },
    destroy() {
      querySet.destroy()
      resolved.destroy()
      staging.destroy()
    },
  }
}
