import type { ChildProcess } from 'node:child_process'

/** Options for `spawn` that give a process a group of its own: what it starts ends with it, and Ctrl+C in a terminal is not for it. */
export const OWN_GROUP = { detached: process.platform !== 'win32', windowsHide: true } as const

/** Ends a process that was spawned with OWN_GROUP, and all it has started, at once. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    if (process.platform === 'win32') child.kill('SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  } catch {
    // Already gone.
  }
}
