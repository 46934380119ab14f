import { basename } from 'node:path'
import type { FileSide, Pair } from '@core/compare'
import { namesOf } from '@core/formats/redact'
import { importExtensions } from '@core/formats/registry'
import type { Services } from '../../app/services'
import { thisUser } from '../../paths'
import { FileSides } from '../../compare/file-sides'
import { inSlices } from '../../compare/in-slices'
import { compareStoredSteps } from '../../history/compare'
import { readSessions, whyNotNow, type Incoming } from '../../import/import-files'
import { RequestError, type Asker, type Handlers } from '../answer'
import { writeChosen } from '../chosen-file'

const KINDS = { csv: 'CSV table', md: 'Markdown', html: 'HTML report' } as const

const OF_A_FILE = 'Only cases of a session in the history can be measured. Import the file first.'

export function compareHandlers({ history, runner, settings, dialogs, emit, files: apart }: Pick<Services, 'history' | 'runner' | 'settings' | 'dialogs' | 'emit' | 'files'>, files = new FileSides()) {
  /** The comparison in progress of each window; a page shows one at a time. */
  const current = new Map<Asker, AbortController>()

  async function open(incoming: readonly Incoming[]): Promise<{ sides: FileSide[]; problems: string[]; warnings: string[] }> {
    const busy = whyNotNow({ runner })
    if (busy !== undefined) throw new RequestError('busy', busy)
    const sides: FileSide[] = []
    const told = await readSessions(apart, incoming, (name, file) => sides.push(files.add(name, file)))
    return { sides, ...told }
  }

  const pairsOf = (pairs: readonly { baseline: string; side: string }[]) => pairs.map(({ baseline, side }, i): Pair => ({ id: `pair-${i}`, a: history.result(baseline).case, b: history.result(side).case }))

  return {
    'compare:run': async (request, asker) => {
      current.get(asker)?.abort()
      const mine = new AbortController()
      current.set(asker, mine)
      const { compareThreshold: threshold, compareOpThresholds: byOp } = settings.get()
      try {
        return await inSlices(compareStoredSteps({ history, files }, request, { threshold, byOp }), { signal: mine.signal, onProgress: (progress) => emit('compare:progress', progress, { to: asker }) })
      } finally {
        if (current.get(asker) === mine) current.delete(asker)
      }
    },
    'compare:cancel': (_request, asker) => {
      current.get(asker)?.abort()
      return undefined
    },
    'compare:open-files': async () => {
      const paths = await dialogs.open('Compare files', { name: 'Sessions and results', extensions: importExtensions() })
      return open(paths.map((path) => ({ name: basename(path), from: path })))
    },
    'compare:drop-files': ({ dropped }) => open(dropped.map(({ name, bytes }) => ({ name, from: bytes }))),
    'compare:forget-files': ({ ids }) => {
      for (const id of ids) files.forget(id)
      return undefined
    },
    'compare:names': ({ ids }) => {
      const names = ids.map((id) => namesOf(FileSides.isFile(id) ? files.get(id) : history.getSession(id)))
      return { hosts: names.flatMap(({ hosts }) => hosts), serials: names.flatMap(({ serials }) => serials), users: thisUser().users }
    },
    'compare:save': async ({ name, kind, text }) => {
      const path = await dialogs.save('Save comparison', `${name}.${kind}`, { name: KINDS[kind], extensions: [kind] })
      return path === undefined ? { done: false } : writeChosen(path, text)
    },
    'compare:resolve': ({ sessionId, pairs }) => {
      if (FileSides.isFile(sessionId)) throw new RequestError('bad-request', OF_A_FILE)
      return runner.interleave(pairsOf(pairs), sessionId)
    },
    'compare:can-resolve': async ({ sessionId, pairs }) => {
      const reason = FileSides.isFile(sessionId) ? OF_A_FILE : await runner.whyNotInterleaved(pairsOf(pairs), sessionId)
      return reason === undefined ? {} : { reason }
    },
  } satisfies Partial<Handlers>
}
