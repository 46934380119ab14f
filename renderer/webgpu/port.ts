import type { ServeLink } from '@core/measure/serve'
import type { HostWatch } from './watch/watch'

declare global {
  interface Window {
    /** Put there by preload/webgpu.ts, or by a test in a plain Chromium. */
    opscopeHost?: ServeLink & { watch?: HostWatch }
  }
}

/** The way to the runner, where somebody is listening. */
export const hostPort = (): ServeLink | undefined => window.opscopeHost

/** Whoever can look at the card behind the adapter, where there is one. */
export const hostWatch = (): HostWatch | undefined => window.opscopeHost?.watch
