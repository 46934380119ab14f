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

// Aliases of a number come after its usual name on Linux: SIGABRT before SIGIOT.
const signalNames = new Map<number, string>(
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name]),
)

/**
 * The exit code of Electron's utilityProcess as status and signal. On POSIX it is the status as waitpid gives it:
 * signal in the low seven bits (0x80 marks a core dump), exit status in the next byte.
 */
export function splitWaitStatus(status: number, platform: NodeJS.Platform = process.platform): { code: number | null; signal: string | null } {
  if (platform === 'win32') return { code: status, signal: null }
  const signal = signalNames.get(status & 0x7f)
  if (signal && status > 0 && status < 0x100) return { code: null, signal }
  return { code: status > 0xff ? status >> 8 : status, signal: null }
}
