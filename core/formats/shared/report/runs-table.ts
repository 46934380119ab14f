import { caseRuns, type Run } from '../../../analysis/case-runs'
import { caseId } from '../../../case'
import type { Result } from '../../../result'
import { chooseTimeUnit, formatIn, formatInterval } from '../../../units'
import { caseWordsOf } from './case-words'
import { numberCell, type ReportTable } from './table'

/** One row per case with three right runs or more: what they say together. Blocks measured by turns are no runs. */
export function runsTable(results: readonly Result[]): ReportTable {
  const cases = new Map<string, { first: Result; runs: Run[] }>()
  for (const result of results) {
    if (result.status !== 'ok' || !result.summary || result.block) continue
    const known = cases.get(caseId(result.case))
    const run = { ...result.summary, id: result.id }
    if (known) known.runs.push(run)
    else cases.set(caseId(result.case), { first: result, runs: [run] })
  }
  const shown = [...cases.values()].flatMap(({ first, runs }) => {
    const over = caseRuns(runs)
    return over ? [{ ...over, measured: first.case }] : []
  })
  const medians = shown.map(({ medianNs }) => medianNs).sort((a, b) => a - b)
  const time = chooseTimeUnit(medians[medians.length >> 1])
  return {
    heads: [{ title: 'op', mono: true }, { title: 'shape', mono: true }, { title: 'measured with', mono: true }, { title: 'runs', numeric: true }, { title: `median ${time.name}`, numeric: true }, { title: '±95 %', numeric: true }],
    rows: shown.map(({ measured, runs, medianNs, interval: { low, high } }) => {
      const { shape, line } = caseWordsOf(measured)
      return [{ text: measured.op }, { text: shape }, { text: line }, numberCell(String(runs.length), runs.length), numberCell(formatIn(medianNs, time), medianNs), numberCell(formatInterval(medianNs, low, high), (high - low) / medianNs)]
    }),
  }
}
