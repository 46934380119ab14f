import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { backendsOf } from '@core/backends'
import type { HostLink } from '@core/measure/protocol'
import type { PythonSettings } from '@core/settings'
import { exclusiveLinks } from '../exclusive'
import { makeTemporaryFolder } from '../process-owner'
import type { HostKind } from '../runner/types'
import { forkNodeProcess, forkUtilityProcess } from './child-process'
import { connect } from './link'

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
const findWorker = (from?: string): string => findProgram('worker.js', from)

/** `type` is set by Electron in its main process, and absent in Node and in Electron run as Node. */
const inElectron = () => (process as { type?: string }).type === 'browser'

/** The process that measures CPU and CUDA through the addon; with OPSCOPE_TEST_BACKEND=1 also the scripted backend of tests. */
export function nativeHostKind(env: NodeJS.ProcessEnv = process.env): HostKind {
  const exclusively = exclusiveLinks()
  return {
    id: 'native',
    backends: [...backendsOf('native'), ...(env['OPSCOPE_TEST_BACKEND'] === '1' ? ['fake'] : [])],
    start: async () => exclusively(await startWorker(env)),
  }
}

/** The process that measures in the Pythons of the user, which it keeps as its own children; started anew when the settings change. */
export function pythonHostKind(settings: () => PythonSettings | undefined, env: NodeJS.ProcessEnv = process.env): HostKind {
  const setting = () => JSON.stringify(settings() ?? { extra: [] })
  const exclusively = exclusiveLinks()
  return { id: 'python', backends: backendsOf('python'), setting, start: async () => exclusively(await startWorker({ ...env, OPSCOPE_SERVES: 'python', OPSCOPE_PYTHON: setting() })) }
}

async function startWorker(env: NodeJS.ProcessEnv): Promise<HostLink> {
  const worker = findWorker()
  const whole = { ...env, OPSCOPE_GPU_HOLDERS: gpuHoldersFolder() }
  return connect(inElectron() ? await forkUtilityProcess(worker, whole) : forkNodeProcess(worker, whole), READY_MS)
}

let folder: string | undefined

/**
 * A folder in which the measurement processes of this start note that they are on a GPU, so that none takes another for a
 * stranger that disturbs it (native/cuda/nvml). Made when first asked for, gone with this process.
 */
export const gpuHoldersFolder = (): string => (folder ??= makeTemporaryFolder('opscope-gpu'))
