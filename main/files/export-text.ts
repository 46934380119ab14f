import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatBytes } from '@core/units'
import type { Ended, ExportRequest, FilesApart } from './apart'

/** Bytes of text that are put on a clipboard: programs stall when more is pasted into them. */
export const MAX_CLIPBOARD_BYTES = 2 ** 25

/** The text that an export would write, for the clipboard, through a file in a folder that only this user reads. `extension`: of that file, without the dot. */
export async function exportText(files: Pick<FilesApart, 'export'>, request: Omit<ExportRequest, 'path'> & { copyOf: string }, extension: string): Promise<Ended<string>> {
  const folder = mkdtempSync(join(tmpdir(), 'opscope-copy-'))
  try {
    const path = join(folder, `clipboard.${extension}`)
    const { value, problem } = await files.export({ ...request, path })
    if (!value) return problem === undefined ? {} : { problem }
    const { size } = statSync(path)
    if (size > MAX_CLIPBOARD_BYTES) return { problem: `The text has ${formatBytes(size)}; at most ${formatBytes(MAX_CLIPBOARD_BYTES)} are copied. Export to a file instead.` }
    return { value: readFileSync(path, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
