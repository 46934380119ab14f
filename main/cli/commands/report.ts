import { rowAt, type Row } from '@core/session/rows'
import type { Context } from '../context'
import { endStatus, verdict, type Followed } from '../follow'
import { resultTable } from '../output/result-table'

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

/** Prints what a run came to and returns the exit status. */
export function reportRun(context: Context, followed: Followed, json: boolean): number {
  const rows = allRows(context, followed.sessionId)
  if (json) context.printJson({ session: context.history.summary(followed.sessionId), rows })
  else {
    if (rows.length > 0) context.print(resultTable(rows))
    context.remark(verdict(context, followed))
  }
  return statusOf(rows, followed.end)
}
