import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportParts } from '@core/formats/registry'
import type { SessionFile } from '@core/session/types'
import { writeFileAtomic } from '../write-file'

/**
 * Writes a session that could not be stored as a file: into the working directory, else into that of temporary files.
 * Returns its path, or what kept it from being written.
 */
export function saveUnsaved(file: SessionFile, folders = [process.cwd(), tmpdir()]): { path: string } | { problem: string } {
  const problems: string[] = []
  for (const folder of folders) {
    const base = `opscope-unsaved-${file.session.id.slice(0, 8)}`
    let path = join(folder, `${base}.opscope.json`)
    for (let i = 2; existsSync(path); i++) path = join(folder, `${base}-${i}.opscope.json`)
    try {
      writeFileAtomic(path, exportParts('json', file))
      return { path }
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error))
    }
  }
  return { problem: problems.join('; ') }
}
