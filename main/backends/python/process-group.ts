import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

/** What a process and all it starts find in their environment, so that those can be told that left its group (setsid). */
const MARK = 'OPSCOPE_FAMILY'
/** Looks for processes that left the group: one may start another meanwhile. */
const MOST_LOOKS = 5

const marks = new WeakMap<ChildProcess, string>()

/** As `spawn`, in a group of its own: what the process starts ends with it (killGroup), and Ctrl+C in a terminal is not for it. */
export function spawnGroup(program: string, args: readonly string[], options: SpawnOptions & { env: NodeJS.ProcessEnv }): ChildProcess {
  const mark = randomUUID()
  const child = spawn(program, args, { ...options, env: { ...options.env, [MARK]: mark }, detached: process.platform !== 'win32', windowsHide: true })
  marks.set(child, mark)
  return child
}

/** Ends a process of `spawnGroup` and all it has started, at once; on Linux also what has left its group. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    if (process.platform === 'win32') child.kill('SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  } catch {
    // Already gone.
  }
  const mark = marks.get(child)
  if (mark !== undefined && process.platform === 'linux') killMarked(mark)
}

function killMarked(mark: string): void {
  const killed = new Set<number>()
  for (let look = 0; look < MOST_LOOKS; look++) {
    const found = markedProcesses(mark).filter((pid) => !killed.has(pid))
    if (found.length === 0) return
    for (const pid of found) {
      killed.add(pid)
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // Gone since.
      }
    }
  }
}

/** Processes of this user with this mark in their environment. */
function markedProcesses(mark: string): number[] {
  const pids = readdirSync('/proc').map(Number).filter((pid) => Number.isInteger(pid) && pid !== process.pid)
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`${MARK}=${mark}`)
    } catch {
      // Gone since, or another user's.
      return false
    }
  })
}
