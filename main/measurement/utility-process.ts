import { exitReason, splitUtilityExit } from './exit-reason'
import type { HostProcess } from './link'

/** A process inside Electron: a utilityProcess, listed by the system under its name. */
export async function forkUtilityProcess<Sent>(workerPath: string, env: NodeJS.ProcessEnv, serviceName = 'Opscope measurement'): Promise<HostProcess<Sent>> {
  // Loaded here alone, so that the command line never needs Electron.
  const { utilityProcess } = await import('electron')
  const child = utilityProcess.fork(workerPath, [], { serviceName, stdio: ['ignore', 'ignore', 'pipe'], env: definedOnly(env) })
  return {
    post: (message) => child.postMessage(message),
    kill: () => {
      // `kill()` of Electron asks politely, which a hung process ignores.
      if (child.pid === undefined) child.kill()
      else killNow(child.pid)
    },
    onMessage: (listener) => void child.on('message', listener),
    onStderr: (listener) => void child.stderr?.on('data', (chunk: Buffer) => listener(chunk.toString('utf8'))),
    onExit: (listener) =>
      void child.on('exit', (status) => {
        const { code, signal } = splitUtilityExit(status)
        listener(exitReason(code, signal))
      }),
  }
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Already gone.
  }
}

const definedOnly = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined))
