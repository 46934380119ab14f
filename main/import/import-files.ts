import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ImportOutcome } from '@core/formats/file-format'
import { importSession, MAX_BYTES } from '@core/formats/registry'
import type { Reply } from '@core/ipc'
import type { SessionFile } from '@core/session/types'
import { readSweep, type SweepFile } from '@core/sweep/capture'
import type { Services, OpenedFiles } from '../app/services'
import type { Ended, FilesApart } from '../files/apart'
import type { ImportedSession } from '../history/types'
import { readText } from './read-text'

/** A file to read: by its path, or as the bytes it has. */
export interface Incoming {
  name: string
  from: string | Uint8Array
}

/** Above this size reading takes long enough to be felt, and a process of its own does it. */
const LARGE_BYTES = 2 ** 21

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Bytes of the file; undefined where it is no regular file, whose size says nothing. */
async function sizeOf({ from }: Incoming): Promise<number | undefined> {
  if (typeof from !== 'string') return from.byteLength
  const found = await stat(from)
  return found.isFile() ? found.size : undefined
}

/** The session in a file, or what is wrong with it, naming the file. */
function readOne({ name, from }: Incoming): ImportOutcome {
  let text: string
  try {
    text = readText(from)
  } catch (error) {
    return { ok: false, message: `${name}: could not be read (${reasonOf(error)})` }
  }
  return importSession(name, text)
}

/** Reads files one after the other, each whole or not at all, and gives those that are sessions to `take`; one message for each that is not, and what contradicted itself in the others. */
export async function readSessions(apart: FilesApart, incoming: readonly Incoming[], take: (name: string, file: SessionFile) => void): Promise<{ problems: string[]; warnings: string[] }> {
  const problems: string[] = []
  const warnings: string[] = []
  for (const file of incoming) {
    const { value, problem, warnings: more = [] } = (await isForApart(file)) ? await apart.open(file.name, file.from) : readHere(file)
    if (value) take(file.name, value)
    if (problem !== undefined) problems.push(problem)
    warnings.push(...more)
  }
  return { problems, warnings }
}

const warningsOf = ({ warnings }: { warnings?: string[] }) => (warnings ? { warnings } : {})

function readHere(file: Incoming): Ended<SessionFile> {
  const outcome = readOne(file)
  return outcome.ok ? { value: outcome.file, ...warningsOf(outcome) } : { problem: outcome.message }
}

/** Whether a process of its own is to read the file: a large one, and one whose size is that of no file on a disk. What is no regular file, or too large, is refused here with the reason. */
async function isForApart(file: Incoming): Promise<boolean> {
  try {
    const size = await sizeOf(file)
    return size !== undefined && size <= MAX_BYTES && (size > LARGE_BYTES || size === 0)
  } catch {
    return false
  }
}

async function importOne({ history, files }: Pick<Services, 'history' | 'files'>, file: Incoming): Promise<Ended<ImportedSession>> {
  if (await isForApart(file)) {
    const ended = await files.import(file.name, file.from)
    if (ended.value) history.restoreSessions([ended.value.id])
    return ended
  }
  const outcome = readOne(file)
  if (!outcome.ok) return { problem: outcome.message }
  try {
    return { value: history.importSession(outcome.file), ...warningsOf(outcome) }
  } catch (error) {
    return { problem: `${file.name}: could not be added to the history (${reasonOf(error)})` }
  }
}

/** Why files are not read now: that takes processors and memory which a run measures with. Undefined where nothing is measured; a paused run waits. */
export function whyNotNow({ runner }: Pick<Services, 'runner'>): string | undefined {
  const { phase } = runner.state()
  return phase === 'idle' || phase === 'paused' ? undefined : 'A run is in progress, and reading files would disturb its measurements. Pause or stop the run, then try again.'
}

/** Nothing came of any file. */
const NOTHING: Reply<'sessions:import'> = { sweeps: [], imported: [], problems: [], warnings: [] }

/** The captured sweep that a file holds, or what is wrong with it; undefined where it is another file. */
async function sweepIn(file: Incoming): Promise<{ value: SweepFile } | { value?: undefined; problem: string } | undefined> {
  if (!file.name.endsWith('.json') || (await isForApart(file))) return undefined
  let text: string
  try {
    text = readText(file.from)
  } catch {
    return undefined
  }
  try {
    const value = readSweep(text)
    return value && { value }
  } catch (error) {
    return { problem: `${file.name}: not a captured sweep that can be read (${reasonOf(error)})` }
  }
}

/** Imports files one after the other, each whole or not at all; tells what came in and what was wrong with the others. Nothing is read while a run measures. */
export async function importAll(services: Pick<Services, 'history' | 'runner' | 'emit' | 'files'> & Partial<Pick<Services, 'recent'>>, incoming: readonly Incoming[]): Promise<Reply<'sessions:import'>> {
  const busy = whyNotNow(services)
  if (busy !== undefined) return { ...NOTHING, problems: incoming.map(({ name }) => `${name}: ${busy}`) }
  const outcomes: Ended<ImportedSession>[] = []
  const sweeps: SweepFile[] = []
  for (const file of incoming) {
    const sweep = await sweepIn(file)
    if (sweep) {
      if (sweep.value) sweeps.push(sweep.value)
      else outcomes.push({ problem: sweep.problem })
      continue
    }
    const outcome = await importOne(services, file)
    if (outcome.value && typeof file.from === 'string') services.recent?.add(file.from, outcome.value.id)
    outcomes.push(outcome)
  }
  const imported = outcomes.flatMap(({ value }) => (value ? [value] : []))
  if (imported.length > 0) services.emit('sessions:changed', { ids: imported.map(({ id }) => id) })
  return { sweeps, imported, problems: outcomes.flatMap(({ problem }) => (problem === undefined ? [] : [problem])), warnings: outcomes.flatMap(({ warnings }) => warnings ?? []) }
}

/** Names that the system hands to this app, or that a user gives it on the command line. */
const OPENABLE = /\.(?:json|jsonl|csv)$/i

/** The path in a `file:` URL, as desktops hand files over; any other text is a path. */
function pathOf(arg: string): string | undefined {
  if (!/^file:/i.test(arg)) return arg
  try {
    return fileURLToPath(arg)
  } catch {
    return undefined
  }
}

/** Files among a command line's arguments: what is there, looks like a session, and is no switch. */
export const filesIn = (argv: readonly string[], folder = process.cwd()): string[] =>
  argv.slice(1).flatMap((arg) => (arg.startsWith('-') ? [] : (pathOf(arg) ?? []))).filter((path) => OPENABLE.test(path)).map((path) => resolve(folder, path)).filter((path) => existsSync(path))

export function createOpenedFiles(services: Pick<Services, 'history' | 'runner' | 'emit' | 'files'> & Partial<Pick<Services, 'recent'>>): OpenedFiles {
  let done = NOTHING
  let work: Promise<void> = Promise.resolve()
  return {
    add(paths) {
      work = work.then(async () => {
        const { sweeps, imported, problems, warnings } = await importAll(services, paths.map((path) => ({ name: basename(path), from: path })))
        done = { sweeps: [...done.sweeps, ...sweeps], imported: [...done.imported, ...imported], problems: [...done.problems, ...problems], warnings: [...done.warnings, ...warnings] }
        services.emit('sessions:opened', {})
      })
      return work
    },
    async take() {
      await work
      const taken = done
      done = NOTHING
      return taken
    },
  }
}
