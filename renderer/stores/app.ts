import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { Reply } from '@core/ipc'
import { call, listen } from '../lib/api'
import { useNotices } from './notices'

/** The app itself: its start, what was left unfinished, and what is open on top of the views. */
export const useApp = defineStore('app', () => {
  const notices = useNotices()
  const info = shallowRef<Reply<'app:info'>>()
  const problem = shallowRef<unknown>()
  const paletteOpen = ref(false)
  const shortcutsOpen = ref(false)
  /** Sessions that were still running when the app died, until dealt with. */
  const dismissed = ref<string[]>([])
  const interrupted = computed(() => (info.value?.interrupted ?? []).filter((session) => !dismissed.value.includes(session.id)))
  const firstStart = ref(false)
  const mac = computed(() => info.value?.platform === 'darwin')

  async function start(): Promise<void> {
    listen('notice', (notice) => notices.show(notice))
    try {
      info.value = await call('app:info', undefined)
      firstStart.value = info.value.firstStart
      if (info.value.notice) notices.show({ level: 'warning', message: info.value.notice })
    } catch (error) {
      problem.value = error
    }
  }

  const dismiss = (id: string) => (dismissed.value = [...dismissed.value, id])

  return { info, problem, paletteOpen, shortcutsOpen, interrupted, firstStart, mac, start, dismiss }
})
