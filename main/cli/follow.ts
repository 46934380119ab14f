import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportParts } from '@core/formats/registry'
import { isResumable, type SessionFile } from '@core/session/types'
import { rowAt, type Row } from '@core/session/rows'
import { formatDuration } from '@core/units'
import { oneLine } from '../printable'
import type { Runner, RunnerEvents } from '../runner/types'
import { caseWords } from '../runner/words'
import { writeFileAtomic } from '../write-file'
import type { Context } from './context'
import { ProgressView } from './output/progress'
import { resultLine } from './output/results'

export interface Followed {
  sessionId: string
  end: RunnerEvents['ended']
  seconds: number
  /** The run was stopped because its time was up, as the user had asked. */
  timeUp?: boolean
}

/**
 * Begins a run and shows it until it ends: a bar on a terminal, lines elsewhere. Nothing is shown when `quiet`, and of
 * its results only those that went wrong with `rows` `wrong`. After `stopAfterSeconds` it is stopped, and the case in progress with it.
 */
export async function follow(context: Context, runner: Runner, begin: () => Promise<{ sessionId: string }>, quiet: boolean, rows: 'each' | 'wrong' = 'each', stopAfterSeconds?: number): Promise<Followed> {
  const { err } = context.io
  const view = new ProgressView(err)
  const begun = performance.now()
  const offs = [
    runner.on('notice', ({ message, detail }) => view.line(`opscope: ${message}${detail ? ` (${detail})` : ''}`)),
    ...(quiet
      ? []
      : [
          runner.on('state', (state) => view.state(state)),
          runner.on('results', ({ block }) => {
            for (let i = 0; i < block.ids.length; i++) showRow(view, err.isTTY === true || rows === 'wrong', rowAt(block, i))
          }),
        ]),
  ]
  try {
    const ended = new Promise<RunnerEvents['ended']>((resolve) => offs.push(runner.on('ended', resolve)))
    const { sessionId } = await begin()
    let timeUp = false
    const timer = stopAfterSeconds === undefined ? undefined : setTimeout(() => {
      timeUp = true
      runner.stop()
    }, stopAfterSeconds * 1000)
    const end = await ended.finally(() => clearTimeout(timer))
    view.clear()
    if (end.unsaved !== undefined) tellUnsaved(context, runner, end.unsaved)
    return { sessionId, end, seconds: (performance.now() - begun) / 1000, ...(timeUp && end.state === 'stopped' ? { timeUp } : {}) }
  } finally {
    for (const off of offs) off()
  }
}

/** Saves what the history did not take, and says where: a command line that has ended has nobody left to ask. */
function tellUnsaved(context: Context, runner: Runner, unsaved: number): void {
  const file = runner.unsaved()
  const saved = file ? saveUnsaved(file) : { problem: 'they could not be read again' }
  const count = unsaved === 1 ? '1 result is' : `${unsaved} results are`
  if ('path' in saved) context.remark(`opscope: ${count} not in the history; the whole session was saved as ${saved.path}, to be imported once the history can be written: opscope import ${saved.path}`)
  else context.remark(`opscope: ${count} lost: ${saved.problem}`)
}

/** Exit status of a run that ended like this, before its results are looked at: 1 where they could not be stored, 130 where the user stopped it. */
export const endStatus = ({ state, problem }: RunnerEvents['ended']): number => (problem !== undefined ? 1 : state === 'stopped' ? 130 : 0)

/** Where a bar tells of progress, only what went wrong is worth a line of its own. */
function showRow(view: ProgressView, onlyWrong: boolean, row: Row): void {
  if (!onlyWrong || row.status !== 'ok') view.line(resultLine(caseWords(row.case), row))
}

/** `12 cases in 42 s, 1 failed: softmax · f32 · cpu (id 1f3c…)`. */
export function verdict(context: Context, { sessionId, end, seconds }: Followed): string {
  const { name, results, planned, about } = context.history.summary(sessionId)
  const cases = results === planned ? `${planned} ${planned === 1 ? 'case' : 'cases'}` : `${results} of ${planned} cases`
  const memory = end.outOfMemory === undefined ? '' : ` (${end.outOfMemory} out of memory: their lines above say what fits)`
  const failed = end.failures > 0 ? `, ${end.failures} failed${memory}` : ''
  const rest = end.state === 'stopped' && isResumable({ about }) ? `; go on with: opscope resume ${sessionId}` : ''
  return `${cases} in ${formatDuration(seconds)}${failed}: ${oneLine(name)} (session ${sessionId})${rest}`
}

/**
 * Writes a session that could not be stored as a file: into the working directory, else into that of temporary files.
 * Returns its path, or what kept it from being written.
 */
export function saveUnsaved(file: SessionFile, folders = [process.cwd(), tmpdir()]): { path: string } | { problem: string } {
  const problems: string[] = []
  for (const folder of folders) {
    const base = `opscope-unsaved-${file.session.id.slice(0, 8)}`
    let path = join(folder, `${base}.opscope.json`)
    for (let i = 2; existsSync(path); i++) path = join(folder, `${base}-${i}.opscope.json`)
    try {
      writeFileAtomic(path, exportParts('json', file))
      return { path }
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error))
    }
  }
  return { problem: problems.join('; ') }
}
