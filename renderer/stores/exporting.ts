import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'
import type { Reply } from '@core/ipc'
import { runCommand } from '../commands/registry'
import { call } from '../lib/api'
import { useNotices } from './notices'
import { useSessions } from './sessions'

/** Writing a session as a file: which session, and the formats there are. */
export const useExporting = defineStore('exporting', () => {
  const sessions = useSessions()
  const notices = useNotices()
  const all = shallowRef<Reply<'formats:list'>>([])
  const formats = computed(() => all.value.filter((format) => format.exportable))
  /** The session whose format is being chosen. */
  const asked = shallowRef<{ id: string; name: string }>()
  let chosen: string | undefined

  async function start(): Promise<void> {
    try {
      all.value = await call('formats:list', undefined)
    } catch (error) {
      notices.fail(error, 'list the file formats')
    }
  }

  /** Lets the user choose a format for this session, then a place for the file. */
  function ask(id: string, name: string): void {
    const format = chosen
    chosen = undefined
    if (format === undefined) asked.value = { id, name }
    else void sessions.exportSession(id, format)
  }

  /** Exports the session that the export command means in this view, in a format chosen already. */
  function askAs(format: string): void {
    chosen = format
    runCommand('session.export')
    chosen = undefined
  }

  function choose(format: string): void {
    const session = asked.value
    asked.value = undefined
    if (session) void sessions.exportSession(session.id, format)
  }

  return { formats, asked, start, ask, askAs, choose }
})
