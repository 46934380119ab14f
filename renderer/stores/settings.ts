import { defineStore } from 'pinia'
import { computed, ref, watchEffect } from 'vue'
import { DEFAULT_SETTINGS, type Settings } from '@core/settings'
import { call } from '../lib/api'
import type { Theme } from '../lib/series-colors'

/** What comes back at the next start. Changes are shown at once and written a moment later. */
export const useSettings = defineStore('settings', () => {
  const values = ref<Settings>({ ...DEFAULT_SETTINGS })
  const loaded = ref(false)
  const media = window.matchMedia('(prefers-color-scheme: dark)')
  const systemTheme = ref<Theme>(media.matches ? 'dark' : 'light')
  media.addEventListener('change', (event) => (systemTheme.value = event.matches ? 'dark' : 'light'))

  /** The theme in force. */
  const theme = computed<Theme>(() => (values.value.theme === 'system' ? systemTheme.value : values.value.theme))
  watchEffect(() => (document.documentElement.dataset.theme = theme.value))

  let pending: Partial<Settings> = {}
  let timer: ReturnType<typeof setTimeout> | undefined

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const change = pending
    pending = {}
    // Plain JSON: reactive proxies cannot cross to main.
    if (Object.keys(change).length) await call('settings:set', JSON.parse(JSON.stringify(change)) as Partial<Settings>)
  }

  async function load(): Promise<void> {
    values.value = await call('settings:get', undefined)
    loaded.value = true
    // A picked value must survive a window that closes before the delay is over.
    window.addEventListener('pagehide', () => void flush())
  }

  function set(change: Partial<Settings>): void {
    values.value = { ...values.value, ...change }
    pending = { ...pending, ...change }
    clearTimeout(timer)
    timer = setTimeout(() => void flush(), 400)
  }

  const NEXT = { system: 'light', light: 'dark', dark: 'system' } as const
  const nextTheme = () => set({ theme: NEXT[values.value.theme] })

  return { values, loaded, theme, load, set, nextTheme }
})
