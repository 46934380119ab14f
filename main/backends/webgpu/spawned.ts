import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { dirname } from 'node:path'
import { backendsOf } from '@core/backends'
import { outFolder } from '../../app/page-files'
import { exclusiveLinks } from '../../exclusive'
import { exitReason } from '../../measurement/child-process'
import { gpuHoldersFolder } from '../../measurement/host'
import { connect, type HostProcess } from '../../measurement/link'
import type { HostKind } from '../../runner/types'
import { HOST_FLAG } from './switches'

/** Starting Electron, on a busy machine perhaps for the first time. */
const READY_MS = 60_000

/** Chromium's sandbox needs user namespaces and refuses to run as root. */
function sandboxArguments(): string[] {
  if (process.platform !== 'linux') return []
  const works = process.getuid?.() !== 0 && spawnSync('unshare', ['--user', 'true']).status === 0
  return works ? [] : ['--no-sandbox']
}

/** Words a process said that are not Chromium's running commentary (`[123:0101/120000.1:ERROR:bus.cc(407)] ...`). */
const withoutCommentary = (text: string) =>
  text
    .split('\n')
    .filter((line) => !/^\[\d+:\d+\/[\d.]+:[A-Z]+:/.test(line))
    .join('\n')

function hostProcess(child: ChildProcess, display: Display): HostProcess {
  let failure: string | undefined
  return {
    post: (message) => void child.send(message, () => undefined),
    kill: () => void child.kill('SIGKILL'),
    onMessage: (listener) => void child.on('message', listener),
    onStderr: (listener) => void child.stderr?.setEncoding('utf8').on('data', (text: string) => listener(withoutCommentary(text))),
    onExit: (listener) => {
      child.on('error', (error) => {
        failure ??= `could not be started: ${error.message}`
        if (child.pid === undefined) listener(failure)
      })
      // Not `close`: Chromium's helpers hold stderr open a little longer than the process we spoke to lives.
      child.on('exit', (code, signal) => {
        display.stop()
        listener(failure ?? exitReason(code, signal))
      })
    },
  }
}

/**
 * WebGPU for the command line: an Electron without a visible window, on a display of its own where there is none.
 * `out` is the folder of the built app, by default the one this code was built into.
 */
export const spawnedWebgpuHostKind = (electronPath: string, out?: string, exclusively = exclusiveLinks()): HostKind => ({
  id: 'webgpu',
  backends: backendsOf('webgpu'),
  async start() {
    const app = dirname(out ?? outFolder())
    const display = await findDisplay()
    const { ELECTRON_RUN_AS_NODE: _, ...env } = process.env
    const child = spawn(electronPath, [...sandboxArguments(), ...display.args, app, HOST_FLAG], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // Node and Electron may differ in how they write structured clones.
      serialization: 'json',
      // What watches the card there must know the processes that measure CUDA for the same command line.
      env: { ...env, ...display.env, OPSCOPE_GPU_HOLDERS: gpuHoldersFolder() },
      // Ctrl+C in a terminal is for the command line, which ends this host when it is done.
      detached: true,
    })
    try {
      return exclusively(await connect(hostProcess(child, display), READY_MS))
    } catch (error) {
      display.stop()
      throw error
    }
  },
})

/** A display for a process that shows nothing. */
interface Display {
  env: Record<string, string>
  /** Arguments Electron needs on it. */
  args: readonly string[]
  stop(): void
}

const START_MS = 20_000

/** The display that is there, else a virtual one of its own, else Chromium's headless platform. */
async function findDisplay(env: NodeJS.ProcessEnv = process.env): Promise<Display> {
  const none = { env: {}, args: [], stop: () => undefined }
  if (process.platform !== 'linux' || env['DISPLAY'] || env['WAYLAND_DISPLAY']) return none
  try {
    return await startXvfb()
  } catch {
    return { ...none, args: ['--ozone-platform=headless'] }
  }
}

/** Xvfb picks a free number and tells it on fd 3; `-terminate` ends it with its last client, should we die first. */
function startXvfb(): Promise<Display> {
  return new Promise((resolve, reject) => {
    const child = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1280x720x24', '-nolisten', 'tcp', '-terminate'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'], detached: true })
    const late = setTimeout(() => {
      child.kill()
      reject(new Error('Xvfb did not start'))
    }, START_MS)
    const fail = (error: Error) => {
      clearTimeout(late)
      reject(error)
    }
    child.on('error', fail)
    child.on('exit', (code) => fail(new Error(`Xvfb ended with status ${code}`)))
    let text = ''
    child.stdio[3]?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (!text.includes('\n')) return
      clearTimeout(late)
      child.unref()
      resolve({ env: { DISPLAY: `:${text.trim()}` }, args: [], stop: () => void child.kill() })
    })
  })
}
