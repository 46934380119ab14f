import { CommanderError } from 'commander'
import { nearest, UsageError } from './options/choices'
import { Context, type Io } from './context'
import { createProgram } from './program'

/** Exit status of a program ended by Ctrl+C, as shells count it. */
const INTERRUPTED = 130

export interface Signals {
  /** Calls back at each request to stop (Ctrl+C, SIGTERM). */
  onStop(listener: () => void): void
}

/** Runs one command to its end and returns the exit status. Closes all it opened. */
export async function runCli(args: readonly string[], io: Io, signals: Signals): Promise<number> {
  const context = new Context(io)
  let status = 0
  let quit: () => void = () => undefined
  const quitting = new Promise<void>((resolve) => (quit = resolve))
  signals.onStop(() => {
    if (context.phase === 'running' || context.phase === 'paused') {
      context.remark('\nopscope: stopping; what is measured is kept. Again to end at once.')
      context.stop()
    } else if (context.onStop) {
      const stop = context.onStop
      context.onStop = undefined
      stop()
    } else {
      status = INTERRUPTED
      quit()
    }
  })
  try {
    const program = createProgram(context, (code) => (status = code))
    // A misspelt command is answered like any other misspelt word.
    const first = args.find((arg) => !arg.startsWith('-'))
    const names = program.commands.map((command) => command.name())
    if (args.length === 0) program.outputHelp()
    else if (first !== undefined && first !== 'help' && !names.includes(first)) {
      const like = nearest(first, names)
      throw new UsageError(`unknown command "${first}".${like ? ` Did you mean "${like}"?` : ''} Choose from: ${names.join(', ')}.`)
    } else await Promise.race([program.parseAsync([...args], { from: 'user' }), quitting])
    return status
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    const message = error instanceof Error ? error.message : String(error)
    context.remark(`opscope: ${message}`)
    return error instanceof UsageError ? 2 : 1
  } finally {
    await context.close()
  }
}
