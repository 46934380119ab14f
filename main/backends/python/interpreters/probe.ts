import { readFileSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { makeFolder } from '../../../paths'
import { writeFileAtomic } from '../../../write-file'
import { killGroup, spawnGroup } from '../launch'
import { probeSchema, type Probe } from '../protocol'
import type { WorkerCommand } from '../worker-process'
import { prefixOf } from './sources'

export type Probed = { probe: Probe } | { problem: string }

/** Far more than a probe has to say. */
const MAX_CHARACTERS = 1 << 18

/** The last line that is a JSON object: libraries may greet on stdout before it. */
function objectIn(text: string): unknown {
  for (const line of text.split('\n').reverse()) {
    if (!line.startsWith('{')) continue
    try {
      return JSON.parse(line)
    } catch {
      return undefined
    }
  }
  return undefined
}

const lastLine = (text: string) => text.trim().split('\n').at(-1)?.trim() ?? ''

/** Asks an interpreter what it can compute with; never rejects. `problem` says in one sentence why nothing was learned. */
export function probe({ program, args, env }: WorkerCommand, limitMs: number): Promise<Probed> {
  return new Promise((resolve) => {
    const child = spawnGroup(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
    let said = ''
    let complaint = ''
    const end = (result: Probed) => {
      clearTimeout(late)
      killGroup(child)
      child.stdout?.destroy()
      child.stderr?.destroy()
      resolve(result)
    }
    const late = setTimeout(() => end({ problem: `it did not say within ${limitMs / 1000} s which packages it has` }), limitMs)
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (said.length > MAX_CHARACTERS) end({ problem: 'it printed more than a Python that was asked for its packages has to say' })
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(-MAX_CHARACTERS)))
    child.on('error', (error) => end({ problem: `it could not be started: ${error.message}` }))
    child.on('close', (code, signal) => {
      const parsed = probeSchema.safeParse(objectIn(said))
      if (parsed.success) return end({ probe: parsed.data })
      // Before 3.7 Python does not even read the probe; 3.7 reads it and says so.
      if (/^(SyntaxError: |too old$)/m.test(complaint)) return end({ problem: 'it is too old: Python 3.8 or newer is needed' })
      const how = signal ? `was killed (${signal})` : code === 0 ? 'did not answer as a Python does' : `ended with status ${code}`
      end({ problem: `it ${how} when asked for its packages${complaint.trim() === '' ? '' : `: ${lastLine(complaint).slice(0, 300)}`}` })
    })
  })
}

const cacheSchema = z.record(z.string(), z.object({ stamp: z.string(), probe: probeSchema }))
type Entries = z.infer<typeof cacheSchema>

/** What interpreters have said, kept in a file: importing PyTorch takes seconds. A file that cannot be read or written is none. */
export class ProbeCache {
  readonly #entries: Entries

  constructor(private readonly file: string) {
    this.#entries = read(file)
  }

  get(path: string, stamp: string): Probe | undefined {
    const entry = this.#entries[path]
    return entry?.stamp === stamp ? entry.probe : undefined
  }

  put(path: string, stamp: string, probe: Probe): void {
    this.#entries[path] = { stamp, probe }
    try {
      makeFolder(dirname(this.file))
      writeFileAtomic(this.file, [JSON.stringify(this.#entries)])
    } catch {
      // They are asked again at the next start.
    }
  }
}

function read(file: string): Entries {
  try {
    return cacheSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return {}
  }
}

/** The folder of the interpreter that a virtual environment was made with; undefined where `prefix` is none. */
function baseOf(prefix: string): string | undefined {
  try {
    const home = /^home\s*=\s*(.+)$/m.exec(readFileSync(join(prefix, 'pyvenv.cfg'), 'utf8'))?.[1]
    return home && dirname(home.trim())
  } catch {
    return undefined
  }
}

/** What tells interpreters apart: the environment, or the program behind all links where it belongs to none. */
export function identityOf(path: string): string {
  const prefix = prefixOf(path)
  if (baseOf(prefix) !== undefined) return prefix
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function modified(path: string): number | undefined {
  try {
    return statSync(path).mtimeMs
  } catch {
    return undefined
  }
}

/** Folders of packages below a prefix, by every convention there is. */
function packageFolders(prefix: string): string[] {
  const lib = join(prefix, 'lib')
  let versions: string[] = []
  try {
    versions = readdirSync(lib).filter((name) => /^python3/.test(name))
  } catch {
    // No such folder: another platform, or no Python any more.
  }
  return [join(prefix, 'Lib', 'site-packages'), ...versions.flatMap((version) => ['site-packages', 'dist-packages'].map((name) => join(lib, version, name)))]
}

/**
 * Changes when the interpreter is another or packages come and go: installing, removing or updating one changes the folder
 * it lies in. `home`: where packages of the user alone are.
 */
export function stampOf(path: string, home: string): string {
  const prefix = prefixOf(path)
  const base = baseOf(prefix)
  const prefixes = [prefix, ...(base === undefined ? [] : [base]), '/usr/local', join(home, '.local')]
  const times = [...new Set(prefixes.flatMap(packageFolders))].flatMap((folder) => {
    const time = modified(folder)
    return time === undefined ? [] : [`${folder}=${time}`]
  })
  return [`${identityOf(path)}=${modified(path) ?? 'gone'}`, ...times].join('|')
}
