import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isThere, startOf } from './process-owner'

/** Where folders of a start may lie, the system's choice first: a TMPDIR that is not there must not stop a measurement. */
const placesHere = (): readonly string[] => [...new Set([tmpdir(), ...(process.platform === 'win32' ? [] : ['/tmp', '/var/tmp'])])]

/**
 * Makes a folder that is gone with this process, readable by its owner alone: `PREFIX-PID-START-XXXXXX`. A process that is
 * killed leaves its folder behind, so folders of that prefix whose process is gone are removed first.
 * Throws naming the places when none of them can be used.
 */
export function makeTemporaryFolder(prefix: string, places = placesHere()): string {
  const problems: string[] = []
  for (const place of places) {
    try {
      sweep(place, prefix)
      const made = mkdtempSync(join(place, `${prefix}-${process.pid}-${startOf(process.pid) ?? '0'}-`))
      process.on('exit', () => remove(made))
      return made
    } catch (error) {
      problems.push(`${place}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  throw new Error(`no temporary folder could be made (${problems.join('; ')}); set TMPDIR to a folder that can be written`)
}

function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // Of another user, or in use by a process that ends later: the next start tries again.
  }
}

/** Removes the folders that processes of this prefix have left behind in `place`. Throws when the place cannot be read. */
function sweep(place: string, prefix: string): void {
  for (const name of readdirSync(place)) {
    if (!name.startsWith(`${prefix}-`)) continue
    const [, pid, start] = /^-(\d+)-(\d+)-\w{6}$/.exec(name.slice(prefix.length)) ?? []
    if (pid !== undefined && !isAlive(Number(pid), start!)) remove(join(place, name))
  }
}

const isAlive = (pid: number, start: string) => isThere(pid) && (start === '0' || startOf(pid) === start)
