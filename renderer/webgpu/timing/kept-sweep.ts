import { z } from 'zod'
import type { ReadRate } from '@core/roofline/last-level'

/** What preload/webgpu.ts offers to keep a sweep from one start to the next. Answers are unchecked. */
export interface HostSweeps {
  /** The sweep kept under this key, if there is one. */
  get(key: string): Promise<unknown>
  put(key: string, rates: readonly ReadRate[]): void
}

/** A sweep of the last-level cache, and when it was measured; `measuredAt` is undefined where that is now. */
export interface Sweep {
  rates: readonly ReadRate[]
  measuredAt: string | undefined
}

const keptSchema = z.object({ measuredAt: z.iso.datetime(), rates: z.array(z.object({ bytes: z.number().positive(), rate: z.number().positive() })).min(1) })

/** Longest wait for the main process; then the sweep is measured. */
const ANSWER_MS = 1000

/**
 * The sweep that was kept for this adapter, driver and browser, else the one that `measure` takes, which is kept where it has sizes.
 * `again`: measures whatever was kept.
 */
export async function keptSweep(key: string, host: HostSweeps | undefined, again: boolean, measure: () => Promise<readonly ReadRate[]>): Promise<Sweep> {
  if (host && !again) {
    const late = new Promise<undefined>((resolve) => setTimeout(resolve, ANSWER_MS, undefined))
    const { success, data } = keptSchema.safeParse(await Promise.race([host.get(key).catch(() => undefined), late]))
    if (success) return data
  }
  const rates = await measure()
  if (rates.length > 0) host?.put(key, rates)
  return { rates, measuredAt: undefined }
}
