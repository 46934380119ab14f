import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { Redaction } from '@core/formats/redact'
import type { Reply } from '@core/ipc'
import { MAX_DROPPED_BYTES } from '@core/ipc/names'
import type { Split } from '@core/session/derive'
import { facetChoices, filterSessions, NO_FILTER, type SessionFilter } from '@core/session/filter'
import type { SessionSummary, Environment, Session } from '@core/session/types'
import { formatBytes, formatInteger } from '@core/units'
import { call, listen } from '../lib/api'
import { shortList, tellingDates } from '../lib/session-words'
import { useCaptures } from '../views/capture/captures'
import { useNotices } from './notices'
import { NO_ROWS, type RowSource } from './rows/result-rows'
import { forgetAllRows, forgetRows, loadRows, rowsOf } from './rows/session-rows'

const plural = (n: number) => (n === 1 ? 'session' : 'sessions')

/** Address of a session's view. */
const viewOf = (id: string) => `/session/${encodeURIComponent(id)}`

/** The name of the file in `a.json: why it was not read`; a name may hold a colon itself, before its extension. */
const fileOf = (problem: string): string => /^.*?\.\w+(?=: )|^[^:]+/.exec(problem)?.[0] ?? problem

/** The history list and what can be done with its sessions. */
export const useSessions = defineStore('sessions', () => {
  const notices = useNotices()
  /** All that are not deleted, newest first. */
  const list = shallowRef<readonly SessionSummary[]>([])
  /** What the history view is narrowed to. */
  const filter = ref<SessionFilter>({ ...NO_FILTER })
  const shown = computed(() => filterSessions(list.value, filter.value))
  const choices = computed(() => facetChoices(list.value, filter.value))
  const loaded = ref(false)
  const problem = shallowRef<unknown>()
  let turn = 0

  async function load(): Promise<void> {
    const mine = ++turn
    try {
      const found = await call('sessions:list', { search: '', deleted: false })
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

  /** Takes sessions that this page has just made away again. */
  const undoMade = (made: readonly SessionSummary[]) => async () => {
    await call('sessions:delete', { ids: made.map(({ id }) => id) })
    await load()
  }

  /** Sets the tags of several sessions; can be undone. */
  async function setTags(changes: { id: string; tags: string[] }[]): Promise<void> {
    const byId = new Map(list.value.map((session) => [session.id, session]))
    const before = changes.flatMap(({ id }) => (byId.has(id) ? [{ id, tags: [...byId.get(id)!.tags] }] : []))
    const set = async (next: { id: string; tags: string[] }[]) => {
      const changed = new Map((await call('sessions:tags', { changes: next })).map((session) => [session.id, session]))
      list.value = list.value.map((session) => changed.get(session.id) ?? session)
    }
    try {
      await set(changes)
      notices.show({ level: 'info', message: `Changed the tags of ${changes.length} ${plural(changes.length)}.`, undo: () => set(before) })
    } catch (error) {
      notices.fail(error, 'change the tags')
    }
  }

  /** Makes one session of several; resolves to it, or to nothing where they cannot be one. */
  async function merge(ids: string[]): Promise<SessionSummary | undefined> {
    try {
      const { session, differences } = await call('sessions:merge', { ids })
      await load()
      notices.show({ level: differences.length > 0 ? 'warning' : 'info', message: differences.length > 0 ? `Merged into “${session.name}”, although the places differ.` : `Merged into “${session.name}”.`, ...(differences.length > 0 ? { detail: differences.join('\n') } : {}), undo: undoMade([session]), open: viewOf(session.id) })
      return session
    } catch (error) {
      notices.fail(error, 'merge the sessions')
      return undefined
    }
  }

  /** Makes several sessions of one, or one of some of its results; resolves to them. */
  async function split(id: string, how: Split): Promise<SessionSummary[]> {
    try {
      const made = await call('sessions:split', { id, how })
      await load()
      notices.show({ level: 'info', message: made.length === 1 ? `Made “${made[0]!.name}”.` : `Made ${made.length} sessions; the one they come from stays.`, undo: undoMade(made), ...(made.length === 1 ? { open: viewOf(made[0]!.id) } : {}) })
      return made
    } catch (error) {
      notices.fail(error, 'split the session')
      return []
    }
  }

  async function remove(ids: string[]): Promise<void> {
    try {
      const [gone] = list.value.filter((session) => ids.includes(session.id))
      // Another session of the same name stays: its date and number of results say which one this was.
      const date = gone && tellingDates(list.value).get(gone.id)
      const which = date === undefined ? '' : ` (${date}, ${formatInteger(gone!.results)} ${gone!.results === 1 ? 'result' : 'results'})`
      await call('sessions:delete', { ids })
      list.value = list.value.filter((session) => !ids.includes(session.id))
      ids.forEach(forgetRows)
      notices.show({
        level: 'info',
        message: ids.length === 1 ? `Deleted “${gone?.name ?? 'session'}”${which}.` : `Deleted ${ids.length} ${plural(ids.length)}.`,
        undo: async () => {
          await call('sessions:restore', { ids })
          await load()
        },
      })
    } catch (error) {
      notices.fail(error, 'delete')
    }
  }

  async function exportSession(id: string, format: string, leaveOut?: Redaction[]): Promise<void> {
    try {
      const reply = await call('sessions:export', { id, format, ...(leaveOut ? { leaveOut } : {}) })
      if (reply.done) notices.show({ level: 'info', message: `Exported to ${reply.name}.` })
    } catch (error) {
      notices.fail(error, 'export the session')
    }
  }

  /** Puts what an export would write on the clipboard. */
  async function copySession(id: string, format: Pick<Reply<'formats:list'>[number], 'id' | 'title'>, leaveOut?: Redaction[]): Promise<void> {
    try {
      const reply = await call('sessions:copy', { id, format: format.id, ...(leaveOut ? { leaveOut } : {}) })
      if (reply.done) notices.show({ level: 'info', message: `Copied as ${format.title} (${formatBytes(reply.bytes)}).` })
    } catch (error) {
      notices.fail(error, 'copy the session')
    }
  }

  /** All reports of a suite into a folder that the user chooses. */
  async function saveSuite(id: string, leaveOut?: Redaction[]): Promise<void> {
    try {
      const reply = await call('suite:save', { id, ...(leaveOut ? { leaveOut } : {}) })
      if (reply.done) notices.show({ level: 'info', message: `Wrote ${reply.names.length} ${reply.names.length === 1 ? 'file' : 'files'} to ${reply.into}.`, detail: reply.names.join(', ') })
    } catch (error) {
      notices.fail(error, 'save the reports')
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
    return take(async () => call('sessions:import-dropped', { dropped: await Promise.all(files.map(async (file) => ({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) }))) }))
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
  async function tell({ sweeps, imported, problems, warnings }: Reply<'sessions:import'>): Promise<SessionSummary[]> {
    if (sweeps[0]) useCaptures().open(sweeps[0])
    if (sweeps.length > 1) notices.show({ level: 'warning', message: `Opened “${sweeps[0]!.name}”. Open the other captured sweeps one at a time.` })
    const again = imported.filter(({ alreadyHere }) => alreadyHere)
    const fresh = imported.filter(({ alreadyHere }) => !alreadyHere)
    if (fresh.length) notices.show({ level: 'info', message: fresh.length === 1 ? `Imported “${fresh[0]!.name}”.` : `Imported ${fresh.length} sessions.`, ...(fresh.length === 1 ? { open: viewOf(fresh[0]!.id) } : {}) })
    if (again.length) notices.show({ level: 'warning', message: again.length === 1 ? `“${again[0]!.name}” was already in the history. It is there twice now.` : `${again.length} of these sessions were already in the history. They are there twice now.`, undo: undoMade(again) })
    notices.contradictions(warnings)
    if (problems.length) notices.show({ level: 'error', message: problems.length === 1 ? `Import failed: ${problems[0]!.replace(/\.$/, '')}. Nothing was imported from this file: export it again, or choose another one.` : `Import failed: ${shortList(problems.map(fileOf))}. Nothing was imported from these ${problems.length} files.`, ...(problems.length === 1 ? {} : { detail: problems.join('\n') }) })
    if (imported.length || problems.length) await load()
    return imported
  }

  /** Takes in what was opened with the app from outside. */
  const importOpened = () => take(() => call('sessions:take-opened', undefined))

  function start(): void {
    listen('sessions:changed', () => void load())
    listen('history:replaced', () => {
      forgetAllRows()
      void load()
    })
    void load()
  }

  return { list, filter, shown, choices, loaded, problem, load, update, setTags, merge, split, remove, exportSession, copySession, saveSuite, importSessions, importDropped, importOpened, start }
})

/** The saved session that the session view shows. */
export const useCurrentSession = defineStore('current-session', () => {
  const id = ref<string>()
  const session = shallowRef<Session>()
  const environment = shallowRef<Environment>()
  const rows = shallowRef<RowSource>(NO_ROWS)
  const loading = ref(false)
  const problem = shallowRef<unknown>()

  async function open(next: string): Promise<void> {
    if (id.value !== next) {
      session.value = undefined
      environment.value = undefined
    }
    id.value = next
    rows.value = rowsOf(next)
    loading.value = true
    problem.value = undefined
    try {
      const [head] = await Promise.all([call('sessions:get', { id: next }), loadRows(next)])
      if (id.value !== next) return
      session.value = head.session
      environment.value = head.environment
    } catch (error) {
      if (id.value === next) problem.value = error
    } finally {
      if (id.value === next) loading.value = false
    }
  }

  /** Fetches the record again, after a rename or at the end of a run. */
  async function refresh(): Promise<void> {
    if (id.value) await open(id.value)
  }

  function close(): void {
    id.value = undefined
    session.value = undefined
    rows.value = NO_ROWS
  }

  return { id, session, environment, rows, loading, problem, open, refresh, close }
})
