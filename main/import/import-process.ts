import type { SessionSummary } from '@core/session/types'
import type { Emit } from '../ipc/register'
import { findProgram } from '../measurement/host'
import type { HostProcess } from '../measurement/link'
import { forkUtilityProcess } from '../measurement/utility-process'

/** What the importing process is asked: the history's file, and a file to import by path or as its bytes. */
export interface ImporterRequest {
  history: string
  name: string
  from: string | Uint8Array
}

/** `refused`: the file is at fault; the message names it. `failed`: something else is. */
export type ImporterAnswer = { kind: 'progress'; share: number } | { kind: 'done'; summary: SessionSummary } | { kind: 'refused' | 'failed'; message: string }

/** How an import apart ended. Cancelled ones have neither a session nor a problem. */
export interface ImportedApart {
  summary?: SessionSummary
  problem?: string
}

/** Imports large files in a process of their own, one at a time, and tells the page how far it is. */
export interface Importer {
  run(name: string, from: string | Uint8Array): Promise<ImportedApart>
  /** Ends the import in progress, if there is one. Nothing of its file stays. */
  cancel(): void
}

export function createImporter(historyFile: string, emit: Emit): Importer {
  let cancel: (() => void) | undefined

  function ended(child: HostProcess<ImporterRequest>, request: ImporterRequest): Promise<ImportedApart> {
    const { name } = request
    return new Promise((resolve) => {
      let stderr = ''
      const end = (outcome: ImportedApart) => {
        resolve(outcome)
        child.kill()
      }
      cancel = () => end({})
      child.onStderr((text) => (stderr = (stderr + text).slice(-2000)))
      child.onMessage((message) => {
        const answer = message as ImporterAnswer
        if (answer.kind === 'progress') emit('sessions:import-progress', { name, share: answer.share })
        else if (answer.kind === 'done') end({ summary: answer.summary })
        else end({ problem: answer.kind === 'refused' ? answer.message : `${name}: could not be added to the history (${answer.message})` })
      })
      child.onExit((reason) => resolve({ problem: `${name}: the process that imports it ended (${[reason, stderr.trim()].filter(Boolean).join('; ')}); nothing of it was imported` }))
      child.post(request)
    })
  }

  return {
    async run(name, from) {
      emit('sessions:import-progress', { name, share: 0 })
      try {
        return await ended(await forkUtilityProcess(findProgram('importer.js'), process.env, 'Opscope import'), { history: historyFile, name, from })
      } finally {
        cancel = undefined
        emit('sessions:import-progress', { name })
      }
    },
    cancel: () => cancel?.(),
  }
}
