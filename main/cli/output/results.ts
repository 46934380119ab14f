import { findingTitle, type Finding } from '@core/analysis/advice'
import { sessionAnswer } from '@core/analysis/answer/answer'
import { answerSentences } from '@core/analysis/answer/words'
import { shapeText } from '@core/case-words'
import { statusWord } from '@core/result'
import type { Row } from '@core/session/rows'
import type { Environment } from '@core/session/types'
import { ABSENT, chooseBandwidthUnit, chooseFlopsUnit, chooseTimeUnit, formatIn, formatInterval, formatTime, ratioWords, type Unit } from '@core/units'
import { oneLine } from '../../printable'
import { table, type Column } from './tables'

const perSecond = (amount: number | undefined, ns: number | undefined) => (amount !== undefined && amount > 0 && ns !== undefined && ns > 0 ? (amount / ns) * 1e9 : undefined)
const bandwidth = (row: Row) => perSecond(row.bytes, row.medianNs)
const rate = (row: Row) => perSecond(row.flops, row.medianNs)

function median(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined).sort((a, b) => a - b)
  return known[Math.floor(known.length / 2)]
}

const variantOf = (row: Row) => Object.values(row.case.params).filter((value) => typeof value === 'string').join(' ')

/** A case that gave no figure says why in the last column, shortened. */
const outcome = (row: Row) => (row.status === 'ok' ? (row.grade ?? '') : statusWord(row.status))
const remark = (row: Row) => (row.message && row.message.length > 100 ? `${row.message.slice(0, 99)}…` : (row.message ?? ''))

/** Results as a table with one unit per column, as the app shows them. */
export function resultTable(rows: readonly Row[]): string {
  const right = (title: string, unit: Unit, value: (row: Row) => number | undefined): Column<Row> => ({
    title: `${title} ${unit.name}`,
    align: 'right',
    cell: (row) => formatIn(value(row), unit),
  })
  return table(rows, [
    { title: 'op', cell: (row) => row.case.op },
    { title: 'shape', cell: (row) => shapeText(row.case) },
    { title: 'variant', cell: variantOf },
    { title: 'dtype', cell: (row) => row.case.dtype },
    { title: 'device', cell: (row) => row.case.device },
    { title: 'impl', cell: (row) => row.case.impl },
    { title: 'mode', cell: (row) => row.case.mode },
    { title: 'threads', align: 'right', cell: (row) => (row.case.threads === undefined ? '' : String(row.case.threads)) },
    right('median', chooseTimeUnit(median(rows.map((row) => row.medianNs))), (row) => row.medianNs),
    { title: '95 %', align: 'right', cell: (row) => formatInterval(row.medianNs, row.ciLowNs, row.ciHighNs) },
    right('bandwidth', chooseBandwidthUnit(median(rows.map(bandwidth))), bandwidth),
    right('rate', chooseFlopsUnit(median(rows.map(rate))), rate),
    { title: 'samples', align: 'right', cell: (row) => String(row.samples ?? ABSENT) },
    { title: 'grade', cell: outcome },
    { title: 'remark', cell: remark },
  ])
}

/** One ended case as a line: `add 16Mi f32 cpu avx2 hot: 12.3 ms ±0.21 % A`, or what went wrong. */
export function resultLine(words: string, row: Row): string {
  if (row.status !== 'ok') return oneLine(`${words}: ${statusWord(row.status)}: ${row.message ?? 'no reason given'}`)
  return `${oneLine(words)}: ${formatTime(row.medianNs)} ${formatInterval(row.medianNs, row.ciLowNs, row.ciHighNs)} ${row.grade ?? ''}`.trimEnd()
}

/** Summary of the results, one sentence per line: the fastest by operation, speedups over the baseline, what is unclear, the noise of the machine. */
export const answerLines = (rows: readonly Row[], environment: Environment): string[] =>
  answerSentences(sessionAnswer(rows.flatMap((row) => (row.status === 'ok' && row.medianNs !== undefined ? [{ ...row, medianNs: row.medianNs }] : [])), environment)).map(oneLine)

const SIGNS: Readonly<Record<Finding['severity'], string>> = { problem: '[problem]', warning: '[warning]', info: '[note]' }

/** Findings as text, one paragraph each: what, the sentence, what it rests on, what could be gained. */
export function findingList(findings: readonly Finding[]): string {
  if (findings.length === 0) return 'No findings.'
  return findings
    .map((finding) => {
      const { severity, rows, sentence, evidence, gain } = finding
      return [
        `${SIGNS[severity]} ${findingTitle(finding)} (${rows.length} ${rows.length === 1 ? 'row' : 'rows'})`,
        `  ${oneLine(sentence)}`,
        `  ${evidence.map(({ name, value }) => `${oneLine(name)}: ${oneLine(value)}`).join('; ')}`,
        ...(gain ? [`  could save ${formatTime(gain.savedNs)} over one call of each; ${ratioWords(gain.factor)} is the ${gain.how}`] : []),
      ].join('\n')
    })
    .join('\n\n')
}
