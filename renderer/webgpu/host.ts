import type { ServeLink } from '@core/measure/serve'
import type { VerifyPool } from '@core/measure/verify/pool'
import { threadPool, type ThreadAnswer } from '@core/measure/verify/threads'
import type { HostSweeps } from './timing/kept-sweep'
import type { HostWatch } from './watch/watch'

declare global {
  interface Window {
    /** Put there by preload/webgpu.ts, or by a test in a plain Chromium. */
    opscopeHost?: ServeLink & { watch?: HostWatch; sweeps?: HostSweeps }
  }
}

/** The way to the runner, where somebody is listening. */
export const hostPort = (): ServeLink | undefined => window.opscopeHost

/** Whoever can look at the card behind the adapter, where there is one. */
export const hostWatch = (): HostWatch | undefined => window.opscopeHost?.watch

/** Whoever keeps sweeps of the last-level cache between starts, where there is one. */
export const hostSweeps = (): HostSweeps | undefined => window.opscopeHost?.sweeps

/** More workers than this wait for the page, which reads the outputs. */
const MAX_WORKERS = 8

/** Workers of this page that compare outputs with their references. */
export const pageVerifyPool = (): VerifyPool =>
  threadPool(Math.min(MAX_WORKERS, navigator.hardwareConcurrency || 1), ({ answer, fault }) => {
    const worker = new Worker(new URL('./verify-thread.ts', import.meta.url), { type: 'module' })
    worker.onmessage = ({ data }: MessageEvent<ThreadAnswer>) => answer(data)
    worker.onerror = fault
    return { post: (request) => worker.postMessage(request) }
  })
