import { useEventListener } from '@vueuse/core'
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { FaultNote, Reply } from '@core/ipc'
import { isUnfinished, type SessionSummary } from '@core/session/types'
import { call, listen } from '../lib/api'
import { setNumberLocale } from '@core/units'
import { setDateLocale } from '../lib/session-words'
import { useNotices } from './notices'

/** Chromium tells of observers that ask for another layout as errors; nothing is wrong then. */
const HARMLESS = /^ResizeObserver loop/

/** Sends errors that nobody has caught to main, which writes them down. */
function reportErrors(): void {
  const report = (error: unknown, message: string) => {
    if (HARMLESS.test(message)) return
    const stack = error instanceof Error ? error.stack?.slice(0, 20_000) : undefined
    call('fault:page', { message: message.slice(0, 4000), ...(stack === undefined ? {} : { stack }) }).catch(() => undefined)
  }
  useEventListener(window, 'error', ({ error, message }) => report(error, message))
  useEventListener(window, 'unhandledrejection', ({ reason }) => report(reason, String(reason)))
}

/** The app itself: its start, what was left unfinished, and what is open on top of the views. */
export const useApp = defineStore('app', () => {
  const notices = useNotices()
  const info = shallowRef<Reply<'app:info'>>()
  const problem = shallowRef<unknown>()
  const paletteOpen = ref(false)
  const shortcutsOpen = ref(false)
  /** A fault of the app that was reported, until the user has closed the dialog. */
  const fault = ref<FaultNote>()
  /** Sessions that were still running when the app died, until dealt with. */
  const dismissed = ref<string[]>([])
  const interrupted = computed(() => (info.value?.interrupted ?? []).filter((session) => !dismissed.value.includes(session.id)))
  const firstStart = ref(false)
  const mac = computed(() => info.value?.platform === 'darwin')

  async function start(): Promise<void> {
    listen('notice', (notice) => notices.show(notice))
    listen('fault:reported', (next) => (fault.value = next))
    reportErrors()
    try {
      info.value = await call('app:info', undefined)
      setDateLocale(info.value.locale)
      setNumberLocale(info.value.locale)
      firstStart.value = info.value.firstStart
      fault.value ??= info.value.fault
      if (info.value.notice) notices.show({ level: 'warning', message: info.value.notice })
    } catch (error) {
      problem.value = error
    }
  }

  const dismiss = (id: string) => (dismissed.value = [...dismissed.value, id])

  /** Takes an interrupted session as it is: later starts do not offer it again. */
  async function end({ id, name }: Pick<SessionSummary, 'id' | 'name'>): Promise<void> {
    try {
      const ended = await call('sessions:end', { id })
      dismiss(id)
      if (isUnfinished(ended)) notices.show({ level: 'info', message: `“${name}” counts as stopped early. History can still resume it.` })
    } catch (error) {
      notices.fail(error, 'end the session')
    }
  }

  return { info, problem, paletteOpen, shortcutsOpen, fault, interrupted, firstStart, mac, start, dismiss, end }
})
