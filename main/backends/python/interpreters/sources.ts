import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'

/** Where interpreters are looked for. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>
  home: string
  cwd: string
  platform: NodeJS.Platform
  /** What the user has named: programs or folders of environments. */
  named: readonly string[]
}

/** A program that may be a Python. */
export interface Candidate {
  path: string
  /** As core/backend.ts Interpreter `source`. */
  source: string
}

type Source = (around: Surroundings) => Candidate[]

const windows = ({ platform }: Surroundings) => platform === 'win32'

/** The interpreter of an environment or installation in this folder; undefined where there is none. */
export function pythonIn(folder: string, around: Surroundings): string | undefined {
  const names = windows(around) ? ['Scripts\\python.exe', 'python.exe'] : ['bin/python3', 'bin/python']
  return names.map((name) => join(folder, name)).find((path) => existsSync(path))
}

const inFolders = (folders: readonly (string | undefined)[], source: string, around: Surroundings): Candidate[] =>
  folders.flatMap((folder) => {
    const path = folder ? pythonIn(folder, around) : undefined
    return path === undefined ? [] : [{ path, source }]
  })

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort().map((name) => join(folder, name))
  } catch {
    return []
  }
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/).map((line) => line.trim()).filter((line) => line !== '')
  } catch {
    return []
  }
}

/** Programs as named, or the interpreter of a named folder. What is not there stays, so that its absence is told. */
export const named: Source = (around) => around.named.map((path) => ({ path: pythonIn(path, around) ?? path, source: 'settings' }))

export const activeEnvironment: Source = (around) => inFolders([around.env['VIRTUAL_ENV'], join(around.cwd, '.venv')], 'virtual environment', around)

export const activeConda: Source = (around) => inFolders([around.env['CONDA_PREFIX']], 'conda', around)

/** The first python3 and the first python on the PATH. Shims of pyenv stand for versions that are found by themselves. */
export const onPath: Source = (around) => {
  const folders = (around.env['PATH'] ?? around.env['Path'] ?? '').split(delimiter).filter((folder) => folder !== '' && basename(folder) !== 'shims')
  const names = windows(around) ? ['python.exe'] : ['python3', 'python']
  return names.flatMap((name) => {
    // The stub in WindowsApps opens the store instead of running Python.
    const path = folders.filter((folder) => !/WindowsApps/i.test(folder)).map((folder) => join(folder, name)).find((candidate) => existsSync(candidate))
    return path === undefined ? [] : [{ path, source: 'PATH' }]
  })
}

/** Where virtualenvwrapper and others keep environments. */
export const homeEnvironments: Source = (around) => inFolders(foldersIn(around.env['WORKON_HOME'] || join(around.home, '.virtualenvs')), 'virtual environment', around)

/** Environments that conda has made, by its own list. */
export const condaEnvironments: Source = (around) => inFolders(linesOf(join(around.home, '.conda', 'environments.txt')), 'conda', around)

/** Versions that pyenv has installed, the newest first. */
export const pyenvVersions: Source = (around) => {
  const versions = foldersIn(join(around.env['PYENV_ROOT'] || join(around.home, '.pyenv'), 'versions'))
  const newestFirst = versions.sort((a, b) => basename(b).localeCompare(basename(a), 'en', { numeric: true }))
  return inFolders(newestFirst, 'pyenv', around)
}

export const system: Source = (around) => {
  if (windows(around)) return inFolders(foldersIn(join(around.env['LOCALAPPDATA'] ?? '', 'Programs', 'Python')).reverse(), 'system', around)
  const places = ['/usr/bin/python3', '/usr/local/bin/python3', '/opt/homebrew/bin/python3']
  return places.filter((path) => existsSync(path)).map((path) => ({ path, source: 'system' }))
}

/** Lines of `py -0p` (` -V:3.12 *  C:\Python312\python.exe`) as candidates. */
export const fromLauncher = (listing: string): Candidate[] =>
  listing.split(/\r?\n/).flatMap((line) => {
    const path = /\s([A-Za-z]:\\.*\.exe)\s*$/.exec(line)?.[1]
    return path === undefined ? [] : [{ path, source: 'system' }]
  })

/** The likely choice of the user first. */
const SOURCES: readonly Source[] = [named, activeEnvironment, activeConda, onPath, homeEnvironments, condaEnvironments, pyenvVersions, system]

/** Whoever has more than this has named the ones that count. */
const MAX_CANDIDATES = 24

/** Every interpreter found, each once by the environment it belongs to: `also` are found by other means, such as the launcher of Windows. */
export function findCandidates(around: Surroundings, identity: (path: string) => string, also: readonly Candidate[] = []): Candidate[] {
  const distinct = new Map<string, Candidate>()
  for (const candidate of [...SOURCES.flatMap((source) => source(around)), ...also]) {
    const key = identity(candidate.path)
    if (!distinct.has(key)) distinct.set(key, candidate)
  }
  return [...distinct.values()].slice(0, MAX_CANDIDATES)
}

/** The folder of the environment that an interpreter belongs to, by where it lies. */
export const prefixOf = (path: string): string => (/^(bin|Scripts)$/i.test(basename(dirname(path))) ? dirname(dirname(path)) : dirname(path))
