import type { Services } from '../../app/services'
import { writeFileAtomic } from '../../app/write-file'
import { basename } from 'node:path'
import type { Handlers } from '../answer'
import { chartFile } from '../chart-file'
import { RequestError } from '../errors'

const CHART_FILTERS = { png: { name: 'PNG picture', extensions: ['png'] }, svg: { name: 'SVG picture', extensions: ['svg'] }, csv: { name: 'CSV table', extensions: ['csv'] } }

/** Writes a file the user chose. Throws a RequestError that names it when that fails. */
function writeChosen(path: string, parts: Iterable<string | Uint8Array>): { done: true; name: string } {
  try {
    writeFileAtomic(path, parts)
  } catch (error) {
    throw new RequestError('failed', `${basename(path)} could not be written; nothing was changed.`, error instanceof Error ? error.message : String(error))
  }
  return { done: true, name: basename(path) }
}

export const fileHandlers = ({ dialogs }: Services) =>
  ({
    'sessions:export': () => ({ done: false as const }),
    'sessions:import': () => ({ imported: [], problems: [] }),
    'chart:save': async (request) => {
      const content = chartFile(request)
      const path = await dialogs.save('Save chart', `${request.name}.${request.kind}`, CHART_FILTERS[request.kind])
      return path === undefined ? { done: false } : writeChosen(path, [content])
    },
  }) satisfies Partial<Handlers>
