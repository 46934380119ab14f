import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** Folders that hold the worker: of a build (electron.vite.config.ts copies it there), and of the sources. */
const WORKER_FOLDERS = ['python', 'worker']

/** What CMake calls the guest library. */
const libraryName = (platform: NodeJS.Platform) => (platform === 'win32' ? 'opscope_guest.dll' : platform === 'darwin' ? 'libopscope_guest.dylib' : 'libopscope_guest.so')

/** The first of these paths in the nearest folder above `from`; of a packaged app where files that must be real stand. */
function nearest(from: string, relative: readonly string[], exists: (path: string) => boolean): string | undefined {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const real = folder.replace(/\.asar(?=$|[\\/])/, '.asar.unpacked')
    const found = relative.map((path) => join(real, path)).find(exists)
    if (found !== undefined) return found
    if (dirname(folder) === folder) return undefined
  }
}

/** The folder of worker.py and probe.py. Undefined when it was not built. */
export function locateWorker(from: string, exists: (path: string) => boolean = existsSync): string | undefined {
  const worker = nearest(from, WORKER_FOLDERS.map((folder) => join(folder, 'worker.py')), exists)
  return worker && dirname(worker)
}

/** The guest library (native/guest/guest.h): OPSCOPE_GUEST when set, else that of native/build. Undefined when it was not built. */
export function locateGuest(from: string, env: NodeJS.ProcessEnv = process.env, exists: (path: string) => boolean = existsSync, platform = process.platform): string | undefined {
  const own = env['OPSCOPE_GUEST']
  return own ? resolve(own) : nearest(from, [join('native', 'build', libraryName(platform))], exists)
}

/** Python's own switches (paths, warnings, hash seeds), thread counts and pinning of the libraries, which a case states itself, and Triton's interpreter. */
const REMOVED = /^(PYTHON.*|OPSCOPE_PYTHON.*|TRITON_INTERPRET|OMP_(NUM_THREADS|THREAD_LIMIT|PROC_BIND|PLACES|DYNAMIC|NESTED|MAX_ACTIVE_LEVELS)|(MKL|OPENBLAS|BLIS|NUMEXPR|VECLIB)_(NUM|MAXIMUM)_THREADS|GOMP_CPU_AFFINITY|KMP_AFFINITY)$/i

/** The environment of a Python that measures: the user's (GPUs made visible, library paths), less what would change behind the back of a case. */
export function pythonEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !REMOVED.test(name)))
  // As many threads as were asked for, whatever else runs.
  return { ...kept, OMP_DYNAMIC: 'FALSE', MKL_DYNAMIC: 'FALSE' }
}

/**
 * Switches of every Python that is started: no PYTHON* variables, nothing buffered, no files written beside ours. Packages
 * that `pip install` put into the user's own folder do count, so it is not `-I`.
 */
export const PYTHON_SWITCHES = ['-E', '-u', '-B'] as const

/** What a process and all it starts find in their environment, so that those can be told that left its group (setsid). */
const MARK = 'OPSCOPE_FAMILY'
/** Looks for processes that left the group: one may start another meanwhile. */
const MAX_LOOKS = 5

const marks = new WeakMap<ChildProcess, string>()

/** As `spawn`, in a group of its own: what the process starts ends with it (killGroup), and Ctrl+C in a terminal is not for it. */
export function spawnGroup(program: string, args: readonly string[], options: SpawnOptions & { env: NodeJS.ProcessEnv }): ChildProcess {
  const mark = randomUUID()
  const child = spawn(program, args, { ...options, env: { ...options.env, [MARK]: mark }, detached: process.platform !== 'win32', windowsHide: true })
  marks.set(child, mark)
  return child
}

/** Ends a process of `spawnGroup` and all it has started, at once; on Linux also what has left its group. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    if (process.platform === 'win32') child.kill('SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  } catch {
    // Already gone.
  }
  const mark = marks.get(child)
  if (mark !== undefined && process.platform === 'linux') killMarked(mark)
}

function killMarked(mark: string): void {
  const killed = new Set<number>()
  for (let look = 0; look < MAX_LOOKS; look++) {
    const found = markedProcesses(mark).filter((pid) => !killed.has(pid))
    if (found.length === 0) return
    for (const pid of found) {
      killed.add(pid)
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // Gone since.
      }
    }
  }
}

/** Processes of this user with this mark in their environment. */
function markedProcesses(mark: string): number[] {
  const pids = readdirSync('/proc').map(Number).filter((pid) => Number.isInteger(pid) && pid !== process.pid)
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`${MARK}=${mark}`)
    } catch {
      // Gone since, or another user's.
      return false
    }
  })
}
