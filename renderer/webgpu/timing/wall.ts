import type { Gpu } from '../gpu/gpu'
import { lengthening, REQUEST_MS, type Calls, type CaseTimer } from './calls'
import type { Flush } from './flush'

/** Smallest step of `performance.now()` in ns; Chromium rounds it to 5 us or 100 us. */
export function wallTickNs(): number {
  let smallest = Infinity
  let last = performance.now()
  const until = last + 5
  for (let now = last; now < until; last = now) {
    now = performance.now()
    if (now > last) smallest = Math.min(smallest, now - last)
  }
  return Number.isFinite(smallest) ? smallest * 1e6 : 1e5
}

/** Times whole submissions by the page's clock, for adapters without timestamp queries: the way to the device is in every sample. */
export function wallTimer(gpu: Gpu, calls: Calls, flush: Flush): CaseTimer {
  let nsPerCall: number | undefined

  async function submit(encode: (pass: GPUComputePassEncoder) => void): Promise<number> {
    const encoder = gpu.device.createCommandEncoder()
    const pass = encoder.beginComputePass()
    encode(pass)
    pass.end()
    const commands = encoder.finish()
    const from = performance.now()
    gpu.device.queue.submit([commands])
    await gpu.device.queue.onSubmittedWorkDone()
    return (performance.now() - from) * 1e6
  }

  async function gather<T>(count: number, one: () => Promise<T>): Promise<T[]> {
    const samples: T[] = []
    const until = performance.now() + REQUEST_MS
    do samples.push(await one())
    while (samples.length < count && performance.now() < until)
    return samples
  }

  return {
    ...lengthening(
      (count, each) =>
        gather(count, async () => {
          const onceNs = await submit((pass) => calls.encode(pass, each))
          const twiceNs = await submit((pass) => calls.encode(pass, 2 * each))
          nsPerCall = (onceNs + twiceNs) / (3 * each)
          return { onceNs, twiceNs }
        }),
      () => nsPerCall,
    ),
    async cold(count) {
      const samples = await gather(count, async () => {
        await submit(flush.encode)
        return submit((pass) => calls.encode(pass, 1))
      })
      return { samplesNs: Float64Array.from(samples), inner: 1 }
    },
  }
}
