import { readFileSync } from 'node:fs'
import { importSession } from '@core/formats/registry'
import { joinHistory } from '../history/join'
import type { ImporterAnswer, ImporterRequest } from './import-process'

/** Entry of the process that imports one large file, so that the window stays alive meanwhile. */

/** What Electron gives a utilityProcess for talking to main. */
interface ParentPort {
  postMessage(message: ImporterAnswer): void
  on(event: 'message', listener: (event: { data: ImporterRequest }) => void): unknown
}

/** Shares of the whole work at which the file is read, and parsed and checked: measured with 100,000 results. */
const READ = 0.05
const PARSED = 0.35

function work({ history: file, name, from }: ImporterRequest, tell: (answer: ImporterAnswer) => void): void {
  const text = typeof from === 'string' ? readFileSync(from, 'utf8') : new TextDecoder().decode(from)
  tell({ kind: 'progress', share: READ })
  const outcome = importSession(name, text)
  if (!outcome.ok) return tell({ kind: 'refused', message: outcome.message })
  tell({ kind: 'progress', share: PARSED })
  const history = joinHistory(file)
  try {
    const all = Math.max(1, outcome.file.results.length)
    tell({ kind: 'done', summary: history.importInSteps(outcome.file, (stored) => tell({ kind: 'progress', share: PARSED + ((1 - PARSED) * stored) / all })) })
  } finally {
    history.close()
  }
}

const { parentPort } = process as { parentPort?: ParentPort }
if (!parentPort) throw new Error('this program imports files for Opscope and is started by it; run opscope import instead')
parentPort.on('message', ({ data }) => {
  try {
    work(data, (answer) => parentPort.postMessage(answer))
  } catch (error) {
    parentPort.postMessage({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
  }
})
