import { runFileJob, type FileJob, type FileJobAnswer } from './jobs'

/** Entry of the process that reads or writes one file of a session for the window, which stays alive meanwhile. */

/** What Electron gives a utilityProcess for talking to main. */
interface ParentPort {
  postMessage(message: FileJobAnswer): void
  on(event: 'message', listener: (event: { data: FileJob }) => void): unknown
}

const { parentPort } = process as { parentPort?: ParentPort }
if (!parentPort) throw new Error('this program reads and writes files for Opscope and is started by it; run opscope import or opscope export instead')
parentPort.on('message', ({ data }) => void runFileJob(data, (answer) => parentPort.postMessage(answer)))
