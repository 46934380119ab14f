import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { HostKind } from '../runner/types'
import { connect } from './link'
import { forkNodeProcess } from './node-process'
import { forkUtilityProcess } from './utility-process'

/** Loading the addon and finding devices takes a second at most; a busy machine may need more. */
const READY_MS = 30_000

/** A built program beside this bundle (which may lie in a subfolder of shared chunks). */
export function findProgram(fileName: string, from = dirname(fileURLToPath(import.meta.url))): string {
  const places = [from, dirname(from), join(from, '..', '..', 'out', 'main')].map((folder) => join(folder, fileName))
  const found = places.find((path) => existsSync(path))
  if (!found) throw new Error(`a part of the program is not built: expected ${places[0]}`)
  return found
}

/** The program that measures. */
export const findWorker = (from?: string): string => findProgram('worker.js', from)

/** `type` is set by Electron in its main process, and absent in Node and in Electron run as Node. */
const inElectron = () => (process as { type?: string }).type === 'browser'

/** The process that measures CPU and CUDA through the addon; with OPSCOPE_TEST_BACKEND=1 also the scripted backend of tests. */
export function nativeHostKind(env: NodeJS.ProcessEnv = process.env): HostKind {
  return {
    id: 'native',
    backends: env['OPSCOPE_TEST_BACKEND'] === '1' ? ['cpu', 'cuda', 'fake'] : ['cpu', 'cuda'],
    async start() {
      const worker = findWorker()
      return connect(inElectron() ? await forkUtilityProcess(worker, env) : forkNodeProcess(worker, env), READY_MS)
    },
  }
}
