import type { OpscopeApi } from '@core/ipc'

declare global {
  interface Window {
    /** Put there by the preload; absent when the page is opened outside the app. */
    opscope?: OpscopeApi
  }
}
