import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { APP_FOLDER } from './launch'

const CLI = join(APP_FOLDER, 'out', 'main', 'cli.js')

export interface Ended {
  status: number | null
  signal: NodeJS.Signals | null
  out: string
  err: string
}

export interface Running {
  child: ChildProcess
  ended: Promise<Ended>
  /** Resolves once stderr holds this text; rejects when the program ends first. */
  says(text: string): Promise<void>
}

/** The built command line over one data folder of its own, with the scripted backend on offer. */
export class Cli {
  readonly folder = mkdtempSync(join(tmpdir(), 'opscope-cli-'))

  start(args: readonly string[], env: Record<string, string> = {}, cwd = process.cwd()): Running {
    const child = spawn(process.execPath, [CLI, ...args], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, OPSCOPE_DATA_DIR: this.folder, OPSCOPE_TEST_BACKEND: '1', OPSCOPE_PYTHON_ONLY: '', OPSCOPE_ELECTRON: '', OPSCOPE_ELECTRON_MISSING: 'Electron is left out of this test', ...env },
    })
    let [out, err] = ['', '']
    const watchers = new Set<() => void>()
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text
      for (const watch of watchers) watch()
    })
    const ended = new Promise<Ended>((done) => child.on('close', (status, signal) => done({ status, signal, out, err })))
    const says = (text: string) =>
      new Promise<void>((done, fail) => {
        const watch = () => err.includes(text) && done()
        watchers.add(watch)
        watch()
        void ended.then(() => fail(new Error(`ended without saying "${text}":\n${err}`)))
      })
    return { child, ended, says }
  }

  run(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
    return this.start(args, env).ended
  }

  /** What a command prints with --json. */
  async json<T>(...args: string[]): Promise<T> {
    const { out, err, status } = await this.run([...args, '--json'])
    try {
      return JSON.parse(out) as T
    } catch {
      throw new Error(`no JSON from ${args.join(' ')} (status ${status}): ${out}${err}`)
    }
  }
}

/** Arguments of a sweep on the scripted backend: `add` at `count` sizes. */
export const sweep = (count: number, impls: string, ...more: string[]): string[] => [
  'run', '--ops', 'add', '--sizes', `vector=${Array.from({ length: count }, (_, i) => 64 + i).join(',')}`, '--backends', 'fake', '--impls', impls, '--modes', 'hot', '--preset', 'quick', ...more,
]
