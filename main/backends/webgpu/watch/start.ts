import { MessageChannelMain, utilityProcess, type MessagePortMain } from 'electron'
import { gpuHoldersFolder } from '../../../measurement/gpu-holders'
import { findProgram } from '../../../measurement/host'
import type { WatchProcess } from './owner'

/** Starts the process that watches a card. Rejects where it ends before it began. */
export async function startWatch(): Promise<WatchProcess<MessagePortMain>> {
  // This app's processes on the GPU are known by a folder: a command line's, which started this Electron, or our own.
  const env = { ...process.env, OPSCOPE_GPU_HOLDERS: process.env['OPSCOPE_GPU_HOLDERS'] ?? gpuHoldersFolder() }
  const child = utilityProcess.fork(findProgram('gpu-watch.js'), [], { serviceName: 'Opscope GPU watch', stdio: 'ignore', env })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', () => resolve())
    child.once('exit', (status) => reject(new Error(`exited with status ${status}`)))
  })
  return {
    open(request) {
      const { port1, port2 } = new MessageChannelMain()
      child.postMessage(request, [port1])
      return port2
    },
    kill: () => endNow(child.pid),
    onMessage: (listener) => void child.on('message', listener),
    onExit: (listener) => void child.on('exit', listener),
  }
}

/** Electron's own `kill` asks politely, which a process that hangs in the driver ignores. */
function endNow(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(pid, 'SIGKILL')
  } catch {
    // Already gone.
  }
}
