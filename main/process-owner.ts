import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'

/** When a process started, as digits that differ for a later process with the same id; undefined where it cannot be read. */
export function startOf(pid: number): string | undefined {
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
export function isThere(pid: number): boolean {
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
