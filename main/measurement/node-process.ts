import { fork } from 'node:child_process'
import { exitReason } from './exit-reason'
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
