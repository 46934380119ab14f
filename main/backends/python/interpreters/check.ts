import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { PYTHON_SWITCHES, pythonEnvironment } from '../launch'
import { pythonIn } from './sources'

export type Checked<T> = ({ ok: true } & T) | { ok: false; message: string }

const EXPECTED = 'Expected the program of a Python, such as /home/me/torch/bin/python, or the folder of an environment.'
/** A path that is refused for its characters, with these written out. */
const shown = (path: string) => JSON.stringify(path.slice(0, 200))
const refused = (message: string) => ({ ok: false as const, message })

/** What somebody typed or pasted, without quotes and with the home folder for `~`. */
function cleaned(text: string, home: string): string {
  const path = text.trim().replace(/^(["'])(.*)\1$/, '$2')
  return path === '~' || /^~[\\/]/.test(path) ? join(home, path.slice(1)) : path
}

const runnable = (path: string) => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The program that a text names, by itself or by the folder of its environment. Looks only; `message` says what stands there instead, and what was expected. */
export function programAt(text: string, { home, platform }: { home: string; platform: NodeJS.Platform }): Checked<{ path: string }> {
  const path = cleaned(text, home)
  // Before the file system is asked: looking at another machine's share sends it this user's credentials on Windows.
  if (/^[\\/]{2}|^\w{2,}:/.test(path)) return refused(`${shown(path)} is on another machine or no path of this one. ${EXPECTED}`)
  if (/\p{Cc}/u.test(path)) return refused(`${shown(path)} has characters that no path of a program has. ${EXPECTED}`)
  if (!isAbsolute(path)) return refused(`"${path}" is not a whole path. ${EXPECTED}`)
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) return refused(`There is nothing at ${path}. ${EXPECTED}`)
  if (stat.isDirectory()) {
    const inside = pythonIn(path, { env: {}, home, cwd: path, platform, named: [] })
    if (inside !== undefined) return programAt(inside, { home, platform })
    return refused(existsSync(join(path, 'pyvenv.cfg')) ? `The environment in ${path} has no Python that is there: the one it was made with may be gone. Make it again, or name another.` : `The folder ${path} holds no Python: there is no bin/python3 in it. ${EXPECTED}`)
  }
  if (!stat.isFile()) return refused(`${path} is no program. ${EXPECTED}`)
  return runnable(path) ? { ok: true, path } : refused(`${path} is not executable. ${EXPECTED}`)
}

/** Longest that a Python may take to say its version: none imports anything for it. */
const VERSION_MS = 10_000

/** The Python that a text names, asked for its version: `3.12.1`. */
export async function checkPython(text: string, around: { home: string; platform: NodeJS.Platform }, limitMs = VERSION_MS): Promise<Checked<{ path: string; version: string }>> {
  const program = programAt(text, around)
  if (!program.ok) return program
  const { path } = program
  const { said, problem } = await ask(path, limitMs)
  const version = /^Python (\d+\.\d+\S*)/m.exec(said)?.[1]
  if (version === undefined) return refused(`${path} is not a Python: asked for its version, it ${problem ?? (said.trim() === '' ? 'said nothing' : `said "${said.trim().split('\n')[0]!.slice(0, 80)}"`)}. ${EXPECTED}`)
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 3 || (major === 3 && minor >= 8) ? { ok: true, path, version } : refused(`${path} is Python ${version}, which is too old. Expected Python 3.8 or newer.`)
}

const ask = (path: string, limitMs: number) =>
  new Promise<{ said: string; problem?: string }>((resolve) => {
    try {
      execFile(path, [...PYTHON_SWITCHES, '--version'], { timeout: limitMs, killSignal: 'SIGKILL', maxBuffer: 1 << 16, windowsHide: true, env: pythonEnvironment(process.env) }, (error, stdout, stderr) => {
        const said = `${stdout}${stderr}`
        if (error?.killed) resolve({ said: '', problem: `did not answer within ${limitMs / 1000} s` })
        else resolve(error && typeof error.code === 'string' ? { said, problem: `could not be started (${error.code})` } : { said })
      })
    } catch (error) {
      resolve({ said: '', problem: `could not be started (${error instanceof Error ? error.message : String(error)})` })
    }
  })
