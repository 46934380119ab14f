import { existsSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { placeChanges, type CaseHistory } from '@core/analysis/case-history'
import { changePoints, type Changes } from '@core/analysis/change-points'
import { caseId } from '@core/case'
import { THRESHOLD } from '@core/compare'
import { filterSessions, NO_FILTER } from '@core/session/filter'
import { SPLIT_AXES } from '@core/session/derive'
import { formatBytes, formatInteger, formatInterval, formatPercent, formatTime } from '@core/units'
import { DeriveError, mergeSessions, splitSession } from '../../history/derive'
import { backUp, prepareRestore } from '../../history/maintenance/backup'
import { checkFile } from '../../history/maintenance/check'
import { pickOne, readName, words, findSession, UsageError } from '../options/choices'
import type { Context } from '../context'
import { oneLine } from '../../printable'
import { when, table } from '../output/tables'
import { allRows, printSessions } from './sessions'

interface ListOptions {
  search?: string
  tags?: string
  devices?: string
  ops?: string
  kinds?: string
  from?: string
  to?: string
  json?: boolean
}

const count = (n: number, one: string) => `${formatInteger(n)} ${n === 1 ? one : `${one}s`}`

function day(option: string, text: string | undefined): string {
  if (text !== undefined && !/^\d{4}-\d{2}-\d{2}$/.test(text)) throw new UsageError(`${option} expects a day such as 2026-03-01, received "${text}"`)
  return text ?? ''
}

/** `opscope history list`: sessions by tag, device, operation, kind and date. */
function list(context: Context, options: ListOptions): number {
  const chosen = (what: string, text: string | undefined) => (text === undefined ? [] : words(what, text))
  const found = filterSessions(context.sessions(), {
    ...NO_FILTER, search: options.search ?? '', tags: chosen('tags', options.tags), devices: chosen('devices', options.devices), ops: chosen('operations', options.ops), kinds: chosen('kinds', options.kinds), from: day('--from', options.from), to: day('--to', options.to),
  })
  if (options.json) context.printJson(found)
  else if (found.length > 0) printSessions(context, found)
  else context.remark('No session fits.')
  return 0
}

/** The identity of a case: given as such, or that of a result given by its id. */
function identityOf(context: Context, wanted: string): string {
  if (wanted.includes('|')) return wanted
  try {
    return caseId(context.history.result(wanted).case)
  } catch {
    throw new UsageError(`no result "${wanted}"; expected the id of a result, a case such as "add|n=1024|f32|cpu|avx2|cpu|hot|t4", or a session with --op`)
  }
}

function caseText({ case: measured, points, failed }: CaseHistory, changes: Changes, threshold: number): string {
  const places = placeChanges(points)
  const lines = [
    measured ? oneLine(caseId(measured)) : '',
    table(points.map((point, i) => ({ point, i })), [
      { title: 'made', cell: ({ point }) => when(point.createdAt) },
      { title: 'session', cell: ({ point }) => point.name },
      { title: 'median', align: 'right', cell: ({ point }) => formatTime(point.medianNs) },
      { title: 'interval', align: 'right', cell: ({ point }) => (point.ciLowNs === undefined ? '' : formatInterval(point.medianNs, point.ciLowNs, point.ciHighNs)) },
      { title: 'grade', cell: ({ point }) => point.grade ?? '' },
      { title: 'change', cell: ({ i }) => {
        const change = changes.changes.find(({ at }) => at === i)
        if (change) return `${formatPercent(Math.abs(change.ratio - 1))} ${change.ratio > 1 ? 'slower' : 'faster'}`
        return changes.outliers.includes(i) ? 'outlier' : ''
      } },
      { title: 'environment', cell: ({ i }) => places.find(({ at }) => at === i)?.facts.join('; ') ?? '' },
    ]),
    '',
    changes.drift ? `Drifts: the last is ${formatPercent(Math.abs(changes.drift.ratio - 1))} ${changes.drift.ratio > 1 ? 'slower' : 'faster'} than the first, without a step.` : points.length < 4 ? 'Change detection needs at least 4 sessions.' : `${changes.changes.length === 0 ? 'No change' : count(changes.changes.length, 'change')} above ${formatPercent(threshold)}.`,
  ]
  if (failed > 0) lines.push(`Without a valid measurement: ${count(failed, 'result')}.`)
  return lines.join('\n')
}

/** `opscope history case`: one case over all sessions, with change points. */
function caseHistory(context: Context, wanted: string, options: { op?: string; json?: boolean }): number {
  const { compareThreshold, compareOpThresholds } = context.settings
  const identities = options.op === undefined ? [identityOf(context, wanted)] : casesOf(context, wanted, options.op)
  const found = identities.map((identity) => {
    const history = context.history.caseHistory(identity)
    const threshold = compareOpThresholds?.[history.case?.op ?? ''] ?? compareThreshold ?? THRESHOLD
    return { history, threshold, changes: changePoints(history.points, threshold) }
  })
  if (options.json) context.printJson(found.map(({ history, changes }) => ({ ...history, ...changes })))
  else if (found.every(({ history }) => history.points.length === 0)) context.remark('No session has a valid result of this case.')
  else context.print(found.map(({ history, changes, threshold }) => caseText(history, changes, threshold)).join('\n\n'))
  return 0
}

/** The distinct cases of an operation in a session. */
function casesOf(context: Context, session: string, op: string): string[] {
  const rows = allRows(context, findSession(session, context.sessions()).id)
  pickOne('operation of this session', op, [...new Set(rows.map((row) => row.case.op))])
  return [...new Set(rows.filter((row) => row.case.op === op).map((row) => caseId(row.case)))]
}

/** `opscope history check`: exits 1 when something cannot be read. */
function check(context: Context, options: { json?: boolean }): number {
  let step = ''
  const report = checkFile(context.history.file, (progress) => {
    if (progress.step !== step && !options.json) context.remark(`${progress.step}…`)
    step = progress.step
  })
  if (options.json) context.printJson(report)
  else {
    for (const { level, message, detail } of report.findings) context.print(`${level}: ${message}${detail === undefined ? '' : `\n  ${detail.replaceAll('\n', '\n  ')}`}`)
    context.print(`${report.findings.length === 0 ? 'Everything is in order' : count(report.findings.length, 'finding')}: looked at ${count(report.sessions, 'session')} with ${count(report.results, 'result')} (${formatBytes(report.bytes)}) in ${formatTime(report.ms * 1e6)}.`)
  }
  return report.findings.some(({ level }) => level === 'error') ? 1 : 0
}

function backup(context: Context, target: string): number {
  const path = resolve(target)
  if (existsSync(path)) throw new UsageError(`${path} is there already; choose another name`)
  const { sessions, results, bytes } = backUp(context.history.file, path)
  context.print(`Backed up ${count(sessions, 'session')} with ${count(results, 'result')} to ${path} (${formatBytes(bytes)}), and read it again.`)
  return 0
}

function restore(context: Context, backupFile: string): number {
  const { file, contents, upgradedFrom } = prepareRestore(resolve(backupFile), context.history.file)
  try {
    const kept = context.history.replaceFile(file)
    context.print(`Restored ${count(contents.sessions, 'session')} with ${count(contents.results, 'result')}${upgradedFrom === undefined ? '' : `, brought up from schema ${upgradedFrom}`}.\nThe history as it was stays as ${kept}`)
    return 0
  } finally {
    rmSync(file, { force: true })
  }
}

/** `opscope history tag`: adds and removes tags of several sessions. */
function tag(context: Context, wanted: readonly string[], options: { add?: string; remove?: string }): number {
  if (options.add === undefined && options.remove === undefined) throw new UsageError('history tag takes --add, --remove or both')
  const known = context.sessions()
  const add = options.add === undefined ? [] : words('tags', options.add)
  const remove = new Set(options.remove === undefined ? [] : words('tags', options.remove))
  const changes = wanted.map((text) => findSession(text, known)).map(({ id, tags }) => ({ id, tags: [...new Set([...tags.filter((each) => !remove.has(each)), ...add])] }))
  const tooLong = changes.flatMap(({ tags }) => tags).find((each) => each.length > 60)
  if (tooLong !== undefined) throw new UsageError(`a tag has 60 characters at most: "${tooLong}"`)
  for (const { name, tags } of context.history.setTags(changes)) context.print(oneLine(`${name}: ${tags.join(', ') || 'no tags'}`))
  return 0
}

const inWords = <T>(work: () => T): T => {
  try {
    return work()
  } catch (error) {
    throw error instanceof DeriveError ? new UsageError(oneLine(error.message.replace(/\.$/, ''))) : error
  }
}

function merge(context: Context, wanted: readonly string[], options: { name?: string; json?: boolean }): number {
  const known = context.sessions()
  const { session, differences } = inWords(() => mergeSessions(context.history, wanted.map((text) => findSession(text, known).id), readName(options.name)))
  if (options.json) context.printJson({ session, differences })
  else {
    for (const difference of differences) context.remark(oneLine(`opscope: the places differ: ${difference}`))
    context.print(`Merged into "${oneLine(session.name)}": ${count(session.results, 'result')} (session ${session.id})`)
  }
  return 0
}

function split(context: Context, wanted: string, options: { by: string; json?: boolean }): number {
  const by = pickOne('property', options.by, SPLIT_AXES)
  const made = inWords(() => splitSession(context.history, findSession(wanted, context.sessions()).id, { by }))
  if (options.json) context.printJson(made)
  else for (const { name, id, results } of made) context.print(`Made "${oneLine(name)}": ${count(results, 'result')} (session ${id})`)
  return 0
}

/** Adds `opscope history …` to the program. */
export function addHistoryCommands(program: Command, context: Context, done: (status: number) => void): void {
  const json = ['--json', 'print JSON'] as const
  const history = program.command('history').description('follow a case over all sessions; find, tag, merge, split, check, back up and restore')
  history
    .command('list')
    .description('sessions, newest first, narrowed by any of these')
    .option('--search <text>', 'words in name, tags, notes, operations or devices')
    .option('--tags <list>', 'with any of these tags')
    .option('--devices <list>', 'with any of these devices, by name')
    .option('--ops <list>', 'with any of these operations')
    .option('--kinds <list>', 'sweep, ceilings, interleaved, self-check, merged, part')
    .option('--from <day>', 'made on this day or later, such as 2026-03-01')
    .option('--to <day>', 'made on this day or before')
    .option(...json)
    .action((options: ListOptions) => done(list(context, options)))
  history
    .command('case')
    .argument('<what>', 'id of a result, identity of a case, or with --op a session')
    .description('one case over all sessions: medians, change points, changes of the environment')
    .option('--op <name>', 'every case of this operation in the session')
    .option(...json)
    .action((what: string, options: { op?: string; json?: boolean }) => done(caseHistory(context, what, options)))
  history
    .command('tag')
    .argument('<sessions...>')
    .description('add or remove tags of sessions')
    .option('--add <list>', 'tags to add')
    .option('--remove <list>', 'tags to remove')
    .action((wanted: string[], options: { add?: string; remove?: string }) => done(tag(context, wanted, options)))
  history
    .command('merge')
    .argument('<sessions...>')
    .description('copy the results of several sessions into a new one')
    .option('--name <text>', 'name of the new session')
    .option(...json)
    .action((wanted: string[], options: { name?: string; json?: boolean }) => done(merge(context, wanted, options)))
  history
    .command('split')
    .argument('<session>')
    .description('copy the results of a session into new ones, one for each value')
    .requiredOption('--by <property>', SPLIT_AXES.join(', '))
    .option(...json)
    .action((wanted: string, options: { by: string; json?: boolean }) => done(split(context, wanted, options)))
  history
    .command('check')
    .description('look through the whole history for damage; changes nothing, exits 1 when something cannot be read')
    .option(...json)
    .action((options: { json?: boolean }) => done(check(context, options)))
  history.command('backup').argument('<file>').description('write a copy of the history, in use or not').action((file: string) => done(backup(context, file)))
  history.command('restore').argument('<file>').description('put a backup in the place of the history, which stays beside it').action((file: string) => done(restore(context, file)))
}
