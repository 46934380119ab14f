import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onMachines, type MachinePart } from '@core/fleet/collect'
import type { SessionFile } from '@core/session/types'
import { openHistory } from '../history'
import { shardSession, type Plan } from './plan'

/** What became of one task. */
export interface TaskState {
  index: number
  /** `waiting`: it has measured nothing yet. `unreadable`: it is being written, or damaged. */
  state: 'waiting' | 'incomplete' | 'complete' | 'unreadable'
  results: number
  left: number
  host?: string
  problem?: string
}

/** What the tasks of a plan have measured so far, and one session of all of it; no session where there is no result. */
export interface Collected {
  tasks: TaskState[]
  file?: SessionFile
}

/** Id of the session that a plan is collected into: a second collection of the same finds the first. */
export const collectedId = (plan: Plan): string => `plan-${plan.id}`

/**
 * Reads the histories of all tasks of a plan. Each is copied before it is opened: a task may still be writing it, and a
 * database is not to be opened over a network file system by two machines.
 */
export function collectTasks(plan: Plan, folder: string): Collected {
  const tasks: TaskState[] = []
  const parts: MachinePart[] = []
  for (let index = 1; index <= plan.tasks; index++) {
    const read = readTask(plan, folder, index)
    tasks.push(read.task)
    if (read.file && read.file.results.length > 0) parts.push({ host: read.file.environment.host, environment: read.file.environment, results: read.file.results, ...(read.file.session.settings ? { settings: read.file.session.settings } : {}), createdAt: read.file.session.createdAt })
  }
  if (parts.length === 0) return { tasks }
  const left = tasks.reduce((sum, task) => sum + task.left, 0)
  const whole = tasks.every(({ state }) => state === 'complete')
  return { tasks, file: onMachines({ id: collectedId(plan), name: plan.name, state: whole ? 'done' : 'stopped', left, notes: `Collected from ${plan.tasks} tasks of plan ${plan.id}.` }, parts) }
}

/** Copies that are tried before a database is taken for one that is written without a pause. */
const MAX_COPIES = 20

/**
 * Copies a database of SQLite that another process may be writing, with its log. Writers only append to the log; when they
 * move it into the database between the two copies, the copies do not fit each other, so it is copied again. `copy`: for tests.
 */
export function copyDatabase(from: string, to: string, copy: (from: string, to: string) => void = copyFileSync): void {
  const state = () => {
    const { size, mtimeMs } = statSync(from)
    return `${size} ${mtimeMs}`
  }
  for (let i = 0; i < MAX_COPIES; i++) {
    const before = state()
    for (const suffix of ['', '-wal']) {
      rmSync(to + suffix, { force: true })
      if (existsSync(from + suffix)) copy(from + suffix, to + suffix)
    }
    if (state() === before) return
  }
  throw new Error('it is being written all the time; collect again later')
}

function readTask(plan: Plan, folder: string, index: number): { task: TaskState; file?: SessionFile } {
  const nothing = { index, results: 0, left: 0 }
  const database = join(folder, `task-${index}`, 'history.sqlite')
  if (!existsSync(database)) return { task: { ...nothing, state: 'waiting' } }
  const copy = mkdtempSync(join(tmpdir(), 'opscope-collect-'))
  try {
    copyDatabase(database, join(copy, 'history.sqlite'))
    const { history } = openHistory(join(copy, 'history.sqlite'))
    try {
      const wanted = shardSession(plan, { index, count: plan.tasks })
      // A task that went on on another node has a session of each; the one that is complete counts, else the newest.
      const begun = history.listSessions({ search: '', deleted: false }).filter(({ name }) => name === wanted)
      const summary = begun.find(({ id }) => history.remaining(id).length === 0) ?? begun[0]
      if (!summary) return { task: { ...nothing, state: 'waiting' } }
      const file = history.exportSession(summary.id)
      const left = history.remaining(summary.id).length
      return { task: { index, state: left === 0 ? 'complete' : 'incomplete', results: file.results.length, left, host: file.environment.host }, file }
    } finally {
      history.close()
    }
  } catch (error) {
    return { task: { ...nothing, state: 'unreadable', problem: error instanceof Error ? error.message : String(error) } }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

