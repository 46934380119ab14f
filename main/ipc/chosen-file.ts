import { basename } from 'node:path'
import type { z } from 'zod'
import type { REQUESTS } from '@core/ipc'
import { writeFileAtomic } from '../write-file'
import { RequestError } from './answer'

/** Writes a file the user chose. Throws a RequestError that names it when that fails. */
export function writeChosen(path: string, content: string | Uint8Array): { done: true; name: string } {
  try {
    writeFileAtomic(path, [content])
  } catch (error) {
    throw new RequestError('failed', `${basename(path)} could not be written; nothing was changed.`, error instanceof Error ? error.message : String(error))
  }
  return { done: true, name: basename(path) }
}

type ChartRequest = z.output<(typeof REQUESTS)['chart:save']['request']>

const PNG_PREFIX = 'data:image/png;base64,'
const PNG_MAGIC = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** The content of a chart's file. Throws a RequestError when the data is not of the kind it claims to be. */
export function chartFile({ kind, data }: Pick<ChartRequest, 'kind' | 'data'>): string | Buffer {
  if (kind === 'csv') return data
  if (kind === 'svg') {
    // A picture of ours has no scripts; the file may later be opened in a browser, where they would run.
    if (/^\s*(<\?xml[^>]*>\s*)?<svg[\s>]/.test(data) && !/<script|\son\w+\s*=|javascript:|<foreignObject/i.test(data)) return data
    throw new RequestError('bad-request', 'The chart could not be saved: its data is not a plain SVG picture.')
  }
  const bytes = data.startsWith(PNG_PREFIX) ? Buffer.from(data.slice(PNG_PREFIX.length), 'base64') : undefined
  if (bytes?.subarray(0, PNG_MAGIC.length).equals(PNG_MAGIC)) return bytes
  throw new RequestError('bad-request', 'The chart could not be saved: its data is not a PNG picture.')
}
