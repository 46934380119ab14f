import { rmSync } from 'node:fs'
import { basename } from 'node:path'
import { packCaseHistory } from '@core/analysis/case-history'
import type { Services } from '../../app/services'
import { DeriveError, mergeSessions, splitSession } from '../../history/derive'
import { MaintenanceError } from '../../history/maintenance/backup'
import { runApart } from '../../maintenance/run-apart'
import { RequestError, type Handlers } from '../answer'

const FILTER = { name: 'Opscope history', extensions: ['sqlite', 'db'] }

/** `opscope-history-20260301.sqlite`. */
const backupName = (now = new Date()) => `opscope-history-${now.toISOString().slice(0, 10).replaceAll('-', '')}.sqlite`

/** Errors that are sentences for the user, as replies. */
function told<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof DeriveError || error instanceof MaintenanceError) throw new RequestError('refused', error.message)
    throw error
  }
}

/** One case over all sessions, work on several sessions, and work on the whole file. */
export const historyHandlers = ({ history, runner, dialogs, emit }: Services) => {
  let busy = false

  /** One job at a time; its progress goes to the page. */
  async function alone<T>(work: () => Promise<T>): Promise<T> {
    if (busy) throw new RequestError('busy', 'The history is being worked on. Wait until that is done.')
    busy = true
    try {
      return await work()
    } catch (error) {
      if (error instanceof MaintenanceError) throw new RequestError('failed', error.message)
      throw error
    } finally {
      busy = false
    }
  }
  const onProgress = (progress: { step: string; share?: number | undefined }) => emit('history:progress', progress)

  return {
    'history:case': ({ caseId }) => packCaseHistory(history.caseHistory(caseId)),
    'history:check': () => alone(() => runApart({ kind: 'check', file: history.file }, onProgress)),
    'history:backup': () =>
      alone(async () => {
        const target = await dialogs.save('Back up the history', backupName(), FILTER)
        return target === undefined ? { done: false } : { done: true, contents: await runApart({ kind: 'backup', file: history.file, target }, onProgress) }
      }),
    'history:restore': () =>
      alone(async () => {
        const refuseRun = () => {
          if (runner.state().phase !== 'idle') throw new RequestError('busy', 'A run is in progress. Stop it or let it end, and try again.')
        }
        refuseRun()
        const [backup] = await dialogs.open('Restore the history from a backup', FILTER)
        if (backup === undefined) return { done: false }
        const { file: prepared, contents, upgradedFrom } = await runApart({ kind: 'prepare-restore', backup, file: history.file }, onProgress)
        try {
          refuseRun()
          const kept = history.replaceFile(prepared)
          emit('ceilings:changed', history.ceilings())
          emit('noise:changed', history.noiseFloors())
          emit('history:replaced', {})
          return { done: true, contents, kept: basename(kept), ...(upgradedFrom === undefined ? {} : { upgradedFrom }) }
        } finally {
          rmSync(prepared, { force: true })
        }
      }),
    'sessions:tags': ({ changes }) => {
      const summaries = history.setTags(changes)
      emit('sessions:changed', { ids: changes.map(({ id }) => id) })
      return summaries
    },
    'sessions:merge': ({ ids, name }) => {
      const merged = told(() => mergeSessions(history, ids, name))
      emit('sessions:changed', { ids: [merged.session.id] })
      return merged
    },
    'sessions:split': ({ id, how }) => {
      const parts = told(() => splitSession(history, id, how))
      emit('sessions:changed', { ids: parts.map((part) => part.id) })
      return parts
    },
  } satisfies Partial<Handlers>
}
