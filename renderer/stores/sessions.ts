import { defineStore } from 'pinia'
import { ref, shallowRef } from 'vue'
import type { Reply } from '@core/ipc'
import { MAX_DROPPED_BYTES } from '@core/ipc-names'
import type { SessionSummary } from '@core/session/types'
import { call, listen } from '../lib/api'
import { useNotices } from './notices'
import { forgetRows } from './session-rows'

const plural = (n: number) => (n === 1 ? 'session' : 'sessions')

/** The history list and what can be done with its sessions. */
export const useSessions = defineStore('sessions', () => {
  const notices = useNotices()
  const list = shallowRef<readonly SessionSummary[]>([])
  const search = ref('')
  const loaded = ref(false)
  const problem = shallowRef<unknown>()
  let turn = 0

  async function load(): Promise<void> {
    const mine = ++turn
    try {
      const found = await call('sessions:list', { search: search.value, deleted: false })
      if (mine !== turn) return
      list.value = found
      problem.value = undefined
    } catch (error) {
      problem.value = error
    }
    loaded.value = true
  }

  async function update(id: string, change: { name?: string; notes?: string; tags?: string[] }): Promise<void> {
    try {
      const next = await call('sessions:update', { id, ...change })
      list.value = list.value.map((session) => (session.id === id ? next : session))
    } catch (error) {
      notices.fail(error, 'change the session')
    }
  }

  async function remove(ids: string[]): Promise<void> {
    try {
      const names = list.value.filter((session) => ids.includes(session.id)).map((session) => session.name)
      await call('sessions:delete', { ids })
      list.value = list.value.filter((session) => !ids.includes(session.id))
      ids.forEach(forgetRows)
      notices.show({
        level: 'info',
        message: ids.length === 1 ? `Deleted “${names[0] ?? 'session'}”.` : `Deleted ${ids.length} ${plural(ids.length)}.`,
        undo: async () => {
          await call('sessions:restore', { ids })
          await load()
        },
      })
    } catch (error) {
      notices.fail(error, 'delete')
    }
  }

  async function exportSession(id: string, format: string): Promise<void> {
    try {
      const reply = await call('sessions:export', { id, format })
      if (reply.done) notices.show({ level: 'info', message: `Exported to ${reply.name}.` })
    } catch (error) {
      notices.fail(error, 'export the session')
    }
  }

  /** Opens the file dialog; resolves to the sessions that came in. */
  async function importSessions(): Promise<SessionSummary[]> {
    return take(() => call('sessions:import', undefined))
  }

  /** Imports files dropped on the window; resolves to the sessions that came in. */
  async function importDropped(files: readonly File[]): Promise<SessionSummary[]> {
    const tooLarge = files.find((file) => file.size > MAX_DROPPED_BYTES)
    if (tooLarge) {
      notices.show({ level: 'error', message: `${tooLarge.name}: larger than ${MAX_DROPPED_BYTES / 2 ** 20} MiB. Use File, Import session instead.` })
      return []
    }
    return take(async () => call('sessions:import-dropped', { files: await Promise.all(files.map(async (file) => ({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) }))) }))
  }

  async function take(importing: () => Promise<Reply<'sessions:import'>>): Promise<SessionSummary[]> {
    try {
      return await tell(await importing())
    } catch (error) {
      notices.fail(error, 'import')
      return []
    }
  }

  /** Says what became of files; resolves to the sessions that came in. */
  async function tell({ imported, problems }: Reply<'sessions:import'>): Promise<SessionSummary[]> {
    if (imported.length) notices.show({ level: 'info', message: imported.length === 1 ? `Imported “${imported[0]!.name}”.` : `Imported ${imported.length} sessions.` })
    if (problems.length) notices.show({ level: 'error', message: problems.length === 1 ? problems[0]! : `${problems.length} files could not be imported.`, ...(problems.length === 1 ? {} : { detail: problems.join('\n') }) })
    if (imported.length || problems.length) await load()
    return imported
  }

  /** Takes in what was opened with the app from outside. */
  const importOpened = () => take(() => call('sessions:take-opened', undefined))

  function start(): void {
    listen('sessions:changed', () => void load())
    void load()
  }

  return { list, search, loaded, problem, load, update, remove, exportSession, importSessions, importDropped, importOpened, start }
})
