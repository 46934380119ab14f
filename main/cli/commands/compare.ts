import { COMPARE_AXES, compareAxisSchema, type Comparison, type CompareRequest, type Pair, UnknownValueError } from '@core/compare'
import { openSettings } from '../../app/settings-store'
import { compareStored } from '../../history/compare'
import { nearest } from '../choices'
import type { Context } from '../context'
import { findSession } from '../find-session'
import { follow } from '../follow'
import { comparisonText } from '../output/comparison'
import { UsageError } from '../usage-error'

export interface CompareOptions {
  by?: string
  baseline?: string
  threshold?: string
  more?: boolean
  json?: boolean
}

/**
 * `opscope compare A B ...`: sessions, the first being the baseline. `opscope compare A --by impl`: the cases of one
 * session that differ in an axis; with --more its ambiguous ones are measured by turns first.
 */
export async function compare(context: Context, wanted: readonly string[], options: CompareOptions): Promise<number> {
  const request = requestOf(context, wanted, options)
  const threshold = options.threshold === undefined ? openSettings(context.paths.settings).get().compareThreshold : readThreshold(options.threshold)
  const run = () => {
    try {
      return compareStored(context.history, request, threshold)
    } catch (error) {
      throw error instanceof UnknownValueError ? new UsageError(error.message.replace(/\.$/, '')) : error
    }
  }
  let comparison = run()
  let status = 0
  if (options.more && 'sessionId' in request) {
    const pairs = ambiguousPairs(context, comparison)
    if (pairs.length === 0) context.remark('opscope: no verdict is ambiguous; nothing is measured')
    else {
      context.remark(`opscope: measuring ${pairs.length} ambiguous ${pairs.length === 1 ? 'pair' : 'pairs'} by turns`)
      const runner = context.runner([...new Set(pairs.flatMap(({ a, b }) => [a.backend, b.backend]))])
      const { end } = await follow(context, runner, () => runner.interleave(pairs, request.sessionId, threshold), options.json === true, 'wrong')
      status = end.state === 'stopped' ? 130 : end.failures > 0 ? 1 : 0
      comparison = run()
    }
  }
  if (options.json) context.printJson(comparison)
  else context.print(comparisonText(comparison))
  return status
}

function requestOf(context: Context, wanted: readonly string[], { by, baseline, more }: CompareOptions): CompareRequest {
  const known = context.sessions()
  // What was measured by turns is part of the comparison inside the session it adds to.
  const ids = wanted.map((text) => findSession(text, known)).map(({ id, about }) => (about?.kind === 'interleaved' ? about.session : undefined) ?? id)
  if (by !== undefined) {
    const axis = compareAxisSchema.safeParse(by)
    const like = nearest(by, COMPARE_AXES)
    if (!axis.success) throw new UsageError(`unknown axis "${by}".${like === undefined ? '' : ` Did you mean "${like}"?`} Choose from: ${COMPARE_AXES.join(', ')}`)
    if (ids.length !== 1) throw new UsageError('compare --by takes one session, whose cases are compared with each other')
    return { sessionId: ids[0]!, axis: axis.data, ...(baseline === undefined ? {} : { baseline }) }
  }
  if (baseline !== undefined) throw new UsageError('--baseline belongs to --by; of several sessions the first is the baseline')
  if (more) throw new UsageError('--more belongs to --by: the same case of two sessions cannot be measured by turns; measure a new session, or use repeats')
  if (ids.length < 2) throw new UsageError(`compare takes two sessions or more, of which the first is the baseline, or one with --by ${COMPARE_AXES.join('|')}`)
  const twice = ids.find((id, i) => ids.indexOf(id) !== i)
  if (twice !== undefined) throw new UsageError(`session ${twice} is named twice`)
  return { sessionIds: ids }
}

/** `2%` or `0.02` as a fraction. */
export function readThreshold(text: string): number {
  const found = /^(\d+(?:\.\d+)?|\.\d+)\s*(%?)$/.exec(text.trim())
  const value = found ? Number(found[1]) / (found[2] ? 100 : 1) : NaN
  if (!(value >= 0 && value < 1)) throw new UsageError(`--threshold expects a share such as 2% or 0.02, received "${text}"`)
  return value
}

/** The cells without a clear verdict, each with its baseline. */
function ambiguousPairs({ history }: Context, { rows }: Comparison): Pair[] {
  return rows.flatMap(({ cells }, row) =>
    cells.flatMap((cell, side): Pair[] => (cell?.verdict === 'ambiguous' && cells[0] ? [{ id: `pair-${row}-${side}`, a: history.result(cells[0].resultId).case, b: history.result(cell.resultId).case }] : [])),
  )
}
