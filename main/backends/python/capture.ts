import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { captureSchema, type Capture } from '@core/sweep/capture'
import { killGroup, locateWorker, spawnGroup } from './launch'

/** What capture.py ends with where its Python has no PyTorch that can be watched. */
const NO_TORCH = 97

/** Characters of the script's output that are kept, from its end. */
const MAX_OUTPUT = 20_000
const PROGRESS_MS = 500

/** A script that has ended, or was stopped. `capture`: what it called until then; absent with a `problem`. */
export interface Captured {
  capture?: Capture
  /** Exit status of the script; null where it was ended by a signal. */
  status: number | null
  /** The end of what it printed; empty where it printed to this terminal. */
  output: string
  /** Why there is no capture, in a sentence. */
  problem?: string
}

export interface Script {
  /** A Python, as a path or as found in PATH. */
  python: string
  /** `train.py --epochs 1`, or `-m package`. */
  arguments: readonly string[]
  cwd?: string
  /** `inherit`: the script has this process's terminal, and Ctrl+C is for it. */
  terminal: 'inherit' | 'keep'
  onProgress?(calls: number): void
}

/** Runs a script under capture.py. `stop` ends it and all it has started; what it called until then is kept. */
export function runScript(script: Script): { done: Promise<Captured>; stop(): void } {
  const worker = locateWorker(import.meta.dirname)
  if (worker === undefined) return { done: Promise.resolve({ status: null, output: '', problem: 'The Python worker is missing from this build. Install Opscope again.' }), stop: () => undefined }
  const folder = mkdtempSync(join(tmpdir(), 'opscope-capture-'))
  const file = join(folder, 'capture.json')
  const args = ['-u', join(worker, 'capture.py'), file, ...script.arguments]
  const options = { env: process.env, ...(script.cwd === undefined ? {} : { cwd: script.cwd }) }
  const child: ChildProcess = script.terminal === 'inherit' ? spawn(script.python, args, { ...options, stdio: 'inherit' }) : spawnGroup(script.python, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const keep = (text: string) => (output = (output + text).slice(-MAX_OUTPUT))
  child.stdout?.setEncoding('utf8').on('data', keep)
  child.stderr?.setEncoding('utf8').on('data', keep)
  const timer = setInterval(() => {
    const calls = callsIn(file)
    if (calls !== undefined) script.onProgress?.(calls)
  }, PROGRESS_MS)
  if (script.onProgress === undefined) clearInterval(timer)
  const done = new Promise<Captured>((resolve) => {
    const end = (result: Captured) => {
      clearInterval(timer)
      rmSync(folder, { recursive: true, force: true })
      resolve(result)
    }
    child.on('error', (error) => end({ status: null, output, problem: `${script.python} could not be started: ${error.message}` }))
    child.on('close', (status) => {
      const capture = existsSync(file) ? read(file) : undefined
      if (capture) end({ capture, status, output })
      else end({ status, output, problem: status === NO_TORCH ? `${script.python} has no PyTorch 1.13 or newer, which capturing needs.` : 'The script ended before it could be watched.' })
    })
  })
  return { done, stop: () => (script.terminal === 'inherit' ? child.kill('SIGINT') : killGroup(child)) }
}

/** Calls that the file tells of so far. Only its head is read: a long script fills megabytes. */
function callsIn(file: string): number | undefined {
  if (!existsSync(file)) return undefined
  const head = Buffer.alloc(HEAD)
  const open = openSync(file, 'r')
  try {
    const found = /"calls": (\d+)/.exec(head.toString('latin1', 0, readSync(open, head)))
    return found ? Number(found[1]) : undefined
  } finally {
    closeSync(open)
  }
}

/** Bytes at the start of the file that hold its number of calls. */
const HEAD = 16_384

/** The file as it is now; undefined where it cannot be read. */
function read(file: string): Capture | undefined {
  try {
    return captureSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return undefined
  }
}

/** Runs a script file in its own folder, as a user who opens it by a click means it. */
export const runFile = (python: string, path: string, onProgress: (calls: number) => void): ReturnType<typeof runScript> => runScript({ python, arguments: [path], cwd: dirname(path), terminal: 'keep', onProgress })
