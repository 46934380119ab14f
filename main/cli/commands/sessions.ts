import { NO_ENERGY } from '@core/measure/energy/measure'
import { rowAt, type Row } from '@core/session/rows'
import type { SessionSummary } from '@core/session/types'
import { formatDuration } from '@core/units'
import { findingsOf } from '../../history/findings'
import { oneLine } from '../../printable'
import { findSession } from '../options/choices'
import type { Context } from '../context'
import { endStatus, verdict, type Followed } from '../follow'
import { answerLines, findingList, resultTable } from '../output/results'
import { sessionTable } from '../output/tables'

/** The table of these sessions, and where to look when some of them are damaged. */
export function printSessions(context: Context, found: readonly SessionSummary[]): void {
  context.print(sessionTable(found))
  const damaged = found.filter((session) => session.damaged !== undefined).length
  if (damaged > 0) context.remark(`opscope: ${damaged} ${damaged === 1 ? 'session is' : 'sessions are'} damaged; opscope history check lists all damage, opscope history restore restores a backup`)
}

/** `opscope sessions`: the history, newest first. */
export function sessions(context: Context, options: { search?: string; json?: boolean }): number {
  const found = context.sessions(options.search)
  if (options.json) context.printJson(found)
  else if (found.length > 0) printSessions(context, found)
  else context.remark(options.search ? `No session matches "${options.search}".` : 'There is no session yet; make one with: opscope run')
  return 0
}

/** `opscope show`: one session with its results, or what stands out in them. */
export async function show(context: Context, wanted: string, options: { json?: boolean; findings?: boolean }): Promise<number> {
  const summary = findSession(wanted, context.sessions())
  const { session, environment } = context.history.getSession(summary.id)
  if (options.findings) {
    const findings = await findingsOf(context.history, summary.id)
    if (options.json) context.printJson({ session, findings })
    else context.print(`${oneLine(session.name)}\n\n${findingList(findings)}`)
    return 0
  }
  const rows = allRows(context, summary.id)
  if (options.json) {
    context.printJson({ session, environment, rows })
    return 0
  }
  const seconds = rows.reduce((sum, row) => sum + (row.wallMs ?? 0), 0) / 1000
  const facts = [
    `${session.name}`,
    `${session.id} · ${session.createdAt} · ${session.state} · ${rows.length} of ${session.planned} cases in ${formatDuration(seconds)}`,
    `${environment.host} · ${environment.os} · ${environment.cpu}${environment.devices.map((device) => ` · ${device.id}: ${device.name}`).join('')}`,
    session.tags.length > 0 ? `tags: ${session.tags.join(', ')}` : '',
    session.notes,
  ]
  for (const fact of facts) if (fact !== '') context.print(oneLine(fact))
  context.print('')
  context.print(rows.length > 0 ? resultTable(rows) : 'This session has no results.')
  return 0
}

/** Exit status of a run: 0 when every case gave its figure, 1 when one did not or could not be stored, 130 when the user stopped it. */
function statusOf(rows: readonly Row[], end: Followed['end']): number {
  const status = endStatus(end)
  if (status !== 0) return status
  const failed = rows.some((row) => row.status !== 'ok' && row.status !== 'skipped')
  return failed || !rows.some((row) => row.status === 'ok') ? 1 : 0
}

/** Rows of a whole session. */
export function allRows(context: Context, sessionId: string): Row[] {
  const block = context.history.rows(sessionId, 0, Math.max(1, context.history.summary(sessionId).results))
  return block.ids.map((_, i) => rowAt(block, i))
}

/** Why results of a session that asked for energy have none, each reason once with how many have it. */
function missingEnergy({ history }: Context, sessionId: string, rows: readonly Row[]): string[] {
  if (history.getSession(sessionId).session.spec?.measure?.energy !== true) return []
  const reasons = new Map<string, number>()
  for (const { id, status, joulesPerCall } of rows) {
    if (status !== 'ok' || joulesPerCall !== undefined) continue
    for (const note of history.result(id).notes ?? []) if (note.startsWith(NO_ENERGY)) reasons.set(note, (reasons.get(note) ?? 0) + 1)
  }
  return [...reasons].map(([reason, count]) => `${reason} (${count} of ${rows.length} ${rows.length === 1 ? 'case' : 'cases'})`)
}

/** Prints what a run came to and returns the exit status. */
export function reportRun(context: Context, followed: Followed, json: boolean): number {
  const rows = allRows(context, followed.sessionId)
  if (json) context.printJson({ session: context.history.summary(followed.sessionId), rows })
  else {
    if (rows.length > 0) context.print(resultTable(rows))
    const answer = answerLines(rows, context.history.getSession(followed.sessionId).environment)
    if (answer.length > 0) context.print(`\n${answer.join('\n')}`)
    for (const reason of missingEnergy(context, followed.sessionId, rows)) context.remark(`opscope: ${reason}`)
    context.remark(verdict(context, followed))
  }
  // Whoever has set the time gets what was measured in it.
  return statusOf(rows, followed.timeUp ? { ...followed.end, state: 'done' } : followed.end)
}
