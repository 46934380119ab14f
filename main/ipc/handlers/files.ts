import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { exportSession, FORMATS, importSession, MAX_CHARACTERS } from '@core/formats/registry'
import type { SessionSummary } from '@core/session/types'
import type { Services } from '../../app/services'
import { writeFileAtomic } from '../../write-file'
import type { Handlers } from '../answer'
import { chartFile } from '../chart-file'
import { RequestError } from '../errors'

const CHART_KINDS = { png: 'PNG picture', svg: 'SVG picture', csv: 'CSV table' }

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Writes a file the user chose. Throws a RequestError that names it when that fails. */
function writeChosen(path: string, content: string | Uint8Array): { done: true; name: string } {
  try {
    writeFileAtomic(path, [content])
  } catch (error) {
    throw new RequestError('failed', `${basename(path)} could not be written; nothing was changed.`, reasonOf(error))
  }
  return { done: true, name: basename(path) }
}

/** The text of a file, or what is wrong with it, naming the file. */
async function readChosen(path: string): Promise<{ text: string } | { problem: string }> {
  const name = basename(path)
  try {
    const { size } = await stat(path)
    if (size > MAX_CHARACTERS) return { problem: `${name}: ${Math.ceil(size / 2 ** 20)} MiB, larger than ${MAX_CHARACTERS / 2 ** 20} MiB, the most that is read` }
    return { text: await readFile(path, 'utf8') }
  } catch (error) {
    return { problem: `${name}: could not be read (${reasonOf(error)})` }
  }
}

/** Exporting and importing sessions and saving charts, each through a dialog. */
export const fileHandlers = ({ history, dialogs, emit }: Services) =>
  ({
    'sessions:export': async ({ id, format }) => {
      const { name } = history.summary(id)
      const { title, extension } = FORMATS.find((candidate) => candidate.id === format)!
      const path = await dialogs.save('Export session', `${name}.${extension}`, { name: title, extensions: [extension] })
      return path === undefined ? { done: false } : writeChosen(path, exportSession(format, history.exportSession(id), { ceilings: history.ceilings() }))
    },
    'sessions:import': async () => {
      const extensions = FORMATS.filter((format) => format.importSession).map((format) => format.extension)
      const imported: SessionSummary[] = []
      const problems: string[] = []
      for (const path of await dialogs.open('Import sessions', { name: 'Sessions', extensions })) {
        const read = await readChosen(path)
        const outcome = 'problem' in read ? { ok: false as const, message: read.problem } : importSession(basename(path), read.text)
        if (!outcome.ok) problems.push(outcome.message)
        else {
          try {
            imported.push(history.importSession(outcome.file))
          } catch (error) {
            problems.push(`${basename(path)}: could not be added to the history (${reasonOf(error)})`)
          }
        }
      }
      if (imported.length > 0) emit('sessions:changed', { ids: imported.map(({ id }) => id) })
      return { imported, problems }
    },
    'chart:save': async (request) => {
      const content = chartFile(request)
      const path = await dialogs.save('Save chart', `${request.name}.${request.kind}`, { name: CHART_KINDS[request.kind], extensions: [request.kind] })
      return path === undefined ? { done: false } : writeChosen(path, content)
    },
  }) satisfies Partial<Handlers>
