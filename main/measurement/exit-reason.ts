import { constants } from 'node:os'

const SIGNAL_MEANING: Readonly<Record<string, string>> = {
  SIGSEGV: 'it touched memory that is not its own',
  SIGBUS: 'it touched memory that is not there',
  SIGILL: 'it used an instruction this processor does not have',
  SIGABRT: 'it gave up on an error of its own',
  SIGFPE: 'it did arithmetic the processor refuses',
  SIGKILL: 'ended from outside, as the system does when memory runs out',
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
