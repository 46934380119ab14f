import type { ServeLink } from '@core/measure/serve'

declare global {
  interface Window {
    /** Put there by preload/webgpu.ts, or by a test in a plain Chromium. */
    opscopeHost?: ServeLink
  }
}

/** The way to the runner, where somebody is listening. */
export const hostPort = (): ServeLink | undefined => window.opscopeHost
