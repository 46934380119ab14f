import { fork } from 'node:child_process'
import { constants } from 'node:os'
import type { HostProcess } from './link'

/** A measurement process under plain Node: a forked child that speaks structured clones. */
export function forkNodeProcess(workerPath: string, env: NodeJS.ProcessEnv): HostProcess {
  const child = fork(workerPath, [], { serialization: 'advanced', stdio: ['ignore', 'ignore', 'pipe', 'ipc'], execArgv: [], env })
  let failure: string | undefined
  return {
    // A message to a process that has just died is lost; its exit tells the rest.
    post: (message) => void child.send(message, () => undefined),
    kill: () => void child.kill('SIGKILL'),
    onMessage: (listener) => void child.on('message', listener),
    onStderr: (listener) => void child.stderr?.setEncoding('utf8').on('data', listener),
    onExit: (listener) => {
      child.on('error', (error) => {
        failure ??= `could not be started: ${error.message}`
        if (child.pid === undefined) listener(failure)
      })
      // `close`, not `exit`: by then stderr has been read to its end.
      child.on('close', (code, signal) => listener(failure ?? exitReason(code, signal)))
    },
  }
}

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

const SIGNAL_MEANING: Readonly<Record<string, string>> = {
  SIGSEGV: 'it touched memory that is not its own',
  SIGBUS: 'it touched memory that is not there',
  SIGILL: 'it used an instruction this processor does not have',
  SIGABRT: 'it gave up on an error of its own',
  SIGFPE: 'it did arithmetic the processor refuses',
  SIGKILL: 'ended from outside, for example by the kernel because memory ran out',
}

/** How a process ended, in plain words: `exited with status 3`, `killed by SIGSEGV: it touched memory that is not its own`. */
export function exitReason(code: number | null, signal: string | null): string {
  if (signal) return SIGNAL_MEANING[signal] ? `killed by ${signal}: ${SIGNAL_MEANING[signal]}` : `killed by ${signal}`
  // NTSTATUS codes of Windows: the high bits say error.
  if (code !== null && code >>> 0 === 0xc0000005) return 'killed by an access violation: it touched memory that is not its own'
  if (code !== null && code >>> 0 >= 0xc0000000) return `killed by exception 0x${(code >>> 0).toString(16)}`
  return code === 0 ? 'exited before its work was done' : `exited with status ${code ?? 'unknown'}`
}

/** Signals that end a process by the system's will; their numbers are the same on Linux and macOS but for SIGBUS. */
const FATAL = ['SIGILL', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGKILL', 'SIGSEGV'] as const

/**
 * The exit code of Electron's utilityProcess as status and signal. A process that exits gives its status; one that is
 * killed gives the signal's number, plus 0x80 when it dumped core. Node's own statuses (1 for an uncaught error) are
 * hardly ever among the numbers of fatal signals, so those are read as signals.
 */
export function splitUtilityExit(exit: number, platform: NodeJS.Platform = process.platform): { code: number | null; signal: string | null } {
  if (platform === 'win32') return { code: exit, signal: null }
  const signal = FATAL.find((name) => constants.signals[name] === (exit & 0x7f))
  return signal && exit > 0 && exit < 0x100 ? { code: null, signal } : { code: exit, signal: null }
}
