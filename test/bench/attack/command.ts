import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The built command line (npm run build) as an attack sees it. */
export const CLI = join(import.meta.dirname, '../../../out/main/cli.js')

export interface Ended {
  status: number | null
  signal: NodeJS.Signals | null
  text: string
  seconds: number
  /** Most memory the process ever had; undefined where it was killed. */
  peakBytes: number | undefined
}

export interface Started {
  child: ChildProcess
  ended: Promise<Ended>
  /** Everything printed so far. */
  text(): string
}

/** A folder for one attack, removed with everything in it by `remove`. */
export function workFolder(): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'opscope-attack-'))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }) }
}

/** Each process notes its peak in a file of its own when it exits. */
const PEAK = "import { writeFileSync } from 'node:fs'; process.on('exit', () => writeFileSync(process.env.PEAK_FILE, String(process.resourceUsage().maxRSS)))"
let next = 0

/** Starts a command; `limitMs` ends one that hangs. `script`: a shell script that runs it as "$@", with mounts of its own. */
export function start(args: readonly string[], { folder, env = {}, cwd = folder, limitMs = 60_000, script }: { folder: string; env?: NodeJS.ProcessEnv; cwd?: string; limitMs?: number; script?: string }): Started {
  const from = performance.now()
  const peakFile = join(folder, `peak-${next++}`)
  const whole = { ...process.env, OPSCOPE_DATA_DIR: join(folder, 'data'), OPSCOPE_TEST_BACKEND: '1', OPSCOPE_PYTHON_ONLY: '', OPSCOPE_ELECTRON: '', OPSCOPE_ELECTRON_MISSING: 'not part of this bench', PEAK_FILE: peakFile, ...env }
  const command = [process.execPath, '--import', `data:text/javascript,${encodeURIComponent(PEAK)}`, CLI, ...args]
  const [program = '', ...rest] = script === undefined ? command : ['unshare', '--map-root-user', '--mount', 'sh', '-euc', script, 'sh', ...command]
  const child = spawn(program, rest, { cwd, env: whole, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part: string) => (text += part))
  const late = setTimeout(() => child.kill('SIGKILL'), limitMs)
  const ended = new Promise<Ended>((resolve) =>
    child.on('close', (status, signal) => {
      clearTimeout(late)
      let peakBytes: number | undefined
      try {
        peakBytes = Number(readFileSync(peakFile, 'utf8')) * 1024
      } catch {
        // Killed before it could say.
      }
      resolve({ status, signal, text, seconds: (performance.now() - from) / 1000, peakBytes })
    }),
  )
  return { child, ended, text: () => text }
}

/** Whether this system lets a process mount disks of its own. */
export const canMount = (): boolean => spawnSync('unshare', ['--map-root-user', '--mount', 'sh', '-euc', 'mount -t tmpfs none /mnt']).status === 0

/** A sweep on the scripted backend: `add` at so many sizes. */
export const sweep = (count: number, impl = 'steady'): string[] => ['run', '--ops', 'add', '--sizes', `vector=${Array.from({ length: count }, (_, i) => 64 + i).join(',')}`, '--backends', 'fake', '--impls', impl, '--modes', 'hot', '--preset', 'quick']

/** A text that steers a terminal or forges a line, wherever it ends up. */
export const STEERING = 'x\u001b[2J\u001b]0;owned\u0007\u009b31m\u202e\nopscope: all is well'
/** What no output may hold. */
export const steers = (text: string): boolean => /[^\P{Cc}\n\t]|\u202e/u.test(text) || /^opscope: all is well/m.test(text)

