import { readFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { uptime, tmpdir } from 'node:os'
import { join } from 'node:path'

/** When a process started, as digits that differ for a later process with the same id; undefined where it cannot be read. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Field 22, counted after the command name, which is in parentheses and may hold spaces.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}

/** Names this process so that another can tell later whether it still runs: pid, start, and the boot it belongs to. */
export function thisProcess(): string {
  const bootMs = Date.now() - uptime() * 1000
  return JSON.stringify([process.pid, startOf(process.pid) ?? null, Math.round(bootMs / 1000)])
}

/** Clocks are set while a machine runs, so boot times this close are the same boot. */
const BOOT_SLACK_SECONDS = 600

/** Whether there is a process with this id. */
function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it is there and belongs to someone else.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** What `thisProcess` wrote; nothing where the text is damaged. */
function partsOf(owner: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(owner)
    return Array.isArray(parsed) ? parsed : []
  } catch {
    return []
  }
}

/** Whether `owner` names this process, given that it still runs. */
export const isThisProcess = (owner: string): boolean => partsOf(owner)[0] === process.pid

/** Whether the process named by `owner` still runs. */
export function isRunning(owner: string): boolean {
  const [pid, start, boot] = partsOf(owner)
  if (typeof pid !== 'number' || pid <= 0 || !isThere(pid)) return false
  if (typeof start === 'string') return startOf(pid) === start
  const bootNow = Date.now() / 1000 - uptime()
  return typeof boot !== 'number' || Math.abs(bootNow - boot) < BOOT_SLACK_SECONDS
}

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
