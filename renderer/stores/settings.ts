import { useEventListener, usePreferredDark, useThrottleFn } from '@vueuse/core'
import { defineStore } from 'pinia'
import { computed, ref, watchEffect } from 'vue'
import { DEFAULT_SETTINGS, type Settings } from '@core/settings'
import { call, listen } from '../lib/api'
import type { Theme } from '@core/backends'

/** Least time between two writes, in ms: a drag changes a setting many times a second. */
const WRITE_MS = 400

/** What comes back at the next start. A change is shown and written at once; those that follow it closely are written together. */
export const useSettings = defineStore('settings', () => {
  const values = ref<Settings>({ ...DEFAULT_SETTINGS })
  const loaded = ref(false)
  const systemIsDark = usePreferredDark()

  /** The theme in force. */
  const theme = computed<Theme>(() => (values.value.theme !== 'system' ? values.value.theme : systemIsDark.value ? 'dark' : 'light'))
  watchEffect(() => (document.documentElement.dataset.theme = theme.value))

  let pending: Partial<Settings> = {}

  async function flush(): Promise<void> {
    const change = pending
    pending = {}
    // Plain JSON: reactive proxies cannot cross to main.
    if (Object.keys(change).length) await call('settings:set', JSON.parse(JSON.stringify(change)) as Partial<Settings>)
  }

  const write = useThrottleFn(flush, WRITE_MS, true)

  async function load(): Promise<void> {
    values.value = await call('settings:get', undefined)
    loaded.value = true
    // What this window has changed and not yet written stays.
    listen('settings:changed', (saved) => (values.value = { ...saved, ...pending }))
    // A picked value must survive a window that closes before the delay is over.
    useEventListener(window, 'pagehide', () => void flush())
  }

  function set(change: Partial<Settings>): void {
    values.value = { ...values.value, ...change }
    pending = { ...pending, ...change }
    void write()
  }

  /** Sets, and resolves when main has it too: for what main reads from the settings. What main refuses is as it was. */
  async function change(next: Partial<Settings>): Promise<void> {
    const keys = Object.keys(next) as (keyof Settings)[]
    const before = Object.fromEntries(keys.map((key) => [key, values.value[key]])) as Partial<Settings>
    values.value = { ...values.value, ...next }
    pending = { ...pending, ...next }
    try {
      await flush()
    } catch (error) {
      values.value = { ...values.value, ...before }
      throw error
    }
  }

  /** Takes over what main has changed by itself. */
  const took = (changed: Partial<Settings>) => (values.value = { ...values.value, ...changed })

  const NEXT = { system: 'light', light: 'dark', dark: 'system' } as const
  const nextTheme = () => set({ theme: NEXT[values.value.theme] })

  return { values, loaded, theme, load, set, change, took, nextTheme }
})
