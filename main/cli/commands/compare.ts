import { COMPARE_AXES, compareAxisSchema, comparisonCsv, comparisonMarkdown, drain, failuresOf, type Comparison, type CompareRequest, type Pair, type Thresholds, UnknownValueError } from '@core/compare'
import { namesOf, redactIn, usualRedactions, type KnownNames } from '@core/formats/redact'
import { OPS } from '@core/ops/registry'
import { thisUser } from '../../paths'
import { FileSides } from '../../compare/file-sides'
import { compareStoredSteps } from '../../history/compare'
import { nearest, readRedact, refuse, UsageError } from '../options/choices'
import { formatOf, readFailOn, readFilter, readOpThresholds, readThreshold, findSide, type CompareOptions } from '../options/compare-options'
import type { Context } from '../context'
import { endStatus, follow } from '../follow'
import { comparisonText, failureLines } from '../output/comparison'

/** What writes a comparison to stdout for a file or a pull request. */
const WRITERS = {
  markdown: comparisonMarkdown,
  csv: comparisonCsv,
  // The chart library is loaded for reports only.
  html: async (comparison: Comparison) => (await import('@core/formats/html/comparison')).comparisonHtml(comparison),
}

/** Names of the machines and persons that a report leaves out. */
function namesBehind({ history }: Context, files: FileSides, { sessions }: Comparison): KnownNames {
  const names = sessions.map(({ id }) => namesOf(FileSides.isFile(id) ? files.get(id) : history.getSession(id)))
  return { hosts: names.flatMap(({ hosts }) => hosts), serials: names.flatMap(({ serials }) => serials), users: thisUser().users }
}

/** Exit status when a comparison shows what --fail-on names. */
const REGRESSED = 3

/**
 * `opscope compare A B ...`: sessions or files, the first being the baseline. `opscope compare A --by impl`: the cases of
 * one session that differ in an axis; with --resolve its ambiguous ones are measured interleaved first.
 */
export async function compare(context: Context, wanted: readonly string[], options: CompareOptions): Promise<number> {
  const format = formatOf(options)
  const leaveOut = options.redact === undefined ? usualRedactions({ forSharing: format === 'markdown' || format === 'html' }) : readRedact(options.redact)
  const failOn = options.failOn === undefined ? [] : readFailOn(options.failOn)
  const thresholds: Thresholds = {
    threshold: options.threshold === undefined ? context.settings.compareThreshold : readThreshold(options.threshold),
    byOp: options.perOpThreshold === undefined ? context.settings.compareOpThresholds : readOpThresholds(options.perOpThreshold),
  }
  const files = new FileSides()
  const request = requestOf(context, files, wanted, options)
  const run = () => {
    try {
      return drain(compareStoredSteps({ history: context.history, files }, request, thresholds))
    } catch (error) {
      throw error instanceof UnknownValueError ? new UsageError(error.message.replace(/\.$/, '')) : error
    }
  }
  let comparison = run()
  checkNames(comparison, request, options.perOpThreshold === undefined ? {} : (thresholds.byOp ?? {}))
  let status = 0
  if (options.resolve && 'sessionId' in request) {
    const pairs = ambiguousPairs(context, comparison)
    if (pairs.length === 0) context.remark('opscope: no verdict is unclear; nothing is measured')
    else {
      const runner = context.runner([...new Set(pairs.flatMap(({ a, b }) => [a.backend, b.backend]))])
      const reason = await runner.whyNotInterleaved(pairs, request.sessionId)
      if (reason !== undefined) throw new Error(reason)
      context.remark(`opscope: measuring ${pairs.length} unclear ${pairs.length === 1 ? 'pair' : 'pairs'} with interleaved A/B/B/A blocks`)
      const { end } = await follow(context, runner, () => runner.interleave(pairs, request.sessionId, thresholds.threshold), format !== 'text', 'wrong')
      status = endStatus(end) || (end.failures > 0 ? 1 : 0)
      comparison = run()
    }
  }
  const shown = leaveOut.size === 0 ? comparison : redactIn(comparison, leaveOut, namesBehind(context, files, comparison))
  if (format === 'json') context.printJson(shown)
  else if (format === 'text') context.print(comparisonText(shown))
  else context.output(await WRITERS[format](shown))
  const failures = failuresOf(comparison, failOn)
  for (const line of failureLines(comparison, failures)) context.remark(line)
  return status === 0 && failures.length > 0 ? REGRESSED : status
}

function requestOf(context: Context, files: FileSides, wanted: readonly string[], options: CompareOptions): CompareRequest {
  const { by, baseline, resolve } = options
  const known = context.sessions()
  const filter = readFilter(options)
  const ids = wanted.map((text) => findSide(text, known, files, (warning) => context.remark(`opscope: ${warning}`)))
  if (by !== undefined) {
    const axis = compareAxisSchema.safeParse(by)
    const like = nearest(by, COMPARE_AXES)
    if (!axis.success) throw new UsageError(`unknown axis "${by}".${like === undefined ? '' : ` Did you mean "${like}"?`} Choose from: ${COMPARE_AXES.join(', ')}`)
    if (ids.length !== 1) throw new UsageError('compare --by takes one session, whose cases are compared with each other')
    if (resolve && FileSides.isFile(ids[0]!)) throw new UsageError('--resolve measures cases of a session in the history; import the file first')
    return { sessionId: ids[0]!, axis: axis.data, ...(baseline === undefined ? {} : { baseline }), ...(filter ? { filter } : {}) }
  }
  if (baseline !== undefined) throw new UsageError('--baseline belongs to --by; of several sessions the first is the baseline')
  if (resolve) throw new UsageError('--resolve belongs to --by: cases of different sessions cannot be interleaved; measure a new session, or use repeats')
  if (ids.length < 2) throw new UsageError(`compare takes two sessions or files or more, of which the first is the baseline, or one with --by ${COMPARE_AXES.join('|')}`)
  const twice = ids.find((id, i) => ids.indexOf(id) !== i)
  if (twice !== undefined) throw new UsageError(`session ${twice} is named twice`)
  return { sessionIds: ids, ...(filter ? { filter } : {}) }
}

/** A misspelt name would silently compare nothing, or hold no operation to its threshold. */
function checkNames({ facets }: Comparison, { filter = {} }: CompareRequest, byOp: Readonly<Record<string, number>>): void {
  for (const [key, values] of Object.entries(filter)) {
    const there = facets[key as keyof typeof facets].map(({ value }) => value)
    for (const value of values ?? []) if (!there.includes(value)) refuse(`${key} in what is compared`, value, there)
  }
  const ops = [...new Set([...facets.op.map(({ value }) => value), ...OPS.map(({ id }) => id)])]
  for (const op of Object.keys(byOp)) if (!ops.includes(op)) refuse('operation', op, ops)
}

/** The cells without a clear verdict, each with its baseline. */
function ambiguousPairs({ history }: Context, { rows }: Comparison): Pair[] {
  return rows.flatMap(({ cells }, row) =>
    cells.flatMap((cell, side): Pair[] => (cell?.verdict === 'ambiguous' && cells[0] ? [{ id: `pair-${row}-${side}`, a: history.result(cells[0].resultId).case, b: history.result(cell.resultId).case }] : [])),
  )
}
