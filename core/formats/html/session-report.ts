import { findingTitle, type Finding } from '../../analysis/advice'
import { TWO_INTERVALS } from '../../analysis/case-runs'
import { seriesKey } from '../../backends'
import type { SessionFile } from '../../session/types'
import { formatInteger, formatTime, ratioWords } from '../../units'
import { reportOf } from '../shared/report'
import type { ExportContext } from '../file-format'
import { answerHtml } from './answer'
import { chartedOperations, sessionCharts } from './charts'
import { seriesStyle } from './legend'
import { escapeHtml, pageHtml, factsHtml, tableHtml } from './page'

/** A session as a report in one file. */
export function reportHtml(file: SessionFile, context: ExportContext): string {
  const report = reportOf(file, context)
  const keys = [...new Set(file.results.map((r) => seriesKey(r.case)))]
  const answered = report.answer.implementations.length > 0 || report.answer.machine.warnings.length > 0
  const operations = chartedOperations(file.results)
  const link = (id: string, text: string) => `<a href="#${id}">${escapeHtml(text)}</a>`
  const count = (name: string, items: number) => (items ? `${name} (${formatInteger(items)})` : name)
  const contents = [answered ? link('answer', 'Answer') : '', link('charts', 'Charts'), link('findings', count('Findings', report.findings.length)), link('results', count('Results', report.results.rows.length)), link('environment', 'Environment')]
  const body = `<h1>${escapeHtml(report.title)}</h1>
<p class="muted">${escapeHtml(report.summary)}</p>
<p class="muted">${escapeHtml(report.machine)}</p>
${report.tags.length ? `<p>${report.tags.map((tag) => `<span class="tag">${escapeHtml(tag)}</span>`).join('')}</p>` : ''}
${report.notes ? `<p class="notes">${escapeHtml(report.notes)}</p>` : ''}
<nav aria-label="Contents">${contents.join('')}</nav>
${answered ? `<h2 id="answer">Answer</h2>\n${answerHtml(report.answer, keys)}` : ''}
<h2 id="charts">Charts</h2>
${operations.length > 1 ? `<nav aria-label="Charts by operation">${operations.map(({ op, id }) => link(id, op)).join('')}</nav>` : ''}
${sessionCharts(file.results) || '<p class="muted">No case of this session was measured and right, so there is nothing to draw.</p>'}
<h2 id="findings">Findings</h2>
${findingsHtml(report.findings)}
<h2 id="results">Results</h2>
<p class="muted">Median of the samples of each case with the half width of its 95 % CI. Rates follow from the minimum memory traffic and the operations of the case; efficiency is the share of the measured ceiling that binds it.${file.results.some(({ energy }) => energy) ? ' Energy is that of a call, idle power included, with the half width of its 95 % CI; EDP is the energy-delay product.' : ''} Grade A: converged, low noise; B: noisy; C: throttled, disturbed or not converged.</p>
${tableHtml('Results', report.results)}
${report.runs.rows.length ? `<h2>Over runs</h2>\n<p class="muted">${TWO_INTERVALS}</p>\n${tableHtml('Over runs', report.runs)}\n` : ''}${report.ceilings.rows.length ? `<h2>Ceilings</h2>\n${tableHtml('Ceilings', report.ceilings)}` : ''}
<h2 id="environment">Environment</h2>
${factsHtml(report.environment)}`
  return pageHtml(report.title, body, seriesStyle(keys))
}

const LOOKS: Readonly<Record<Finding['severity'], readonly [sign: string, word: string]>> = { problem: ['✕', 'Problem'], warning: ['▲', 'Warning'], info: ['ℹ', 'Note'] }

/** Findings that are open; the others wait behind a click. */
const FIRST = 8

/** What stands out, most important first, with evidence and gain. */
export function findingsHtml(findings: readonly Finding[]): string {
  if (findings.length === 0) return '<p class="muted">No findings.</p>'
  const items = findings.map((finding) => {
    const { severity, rows, sentence, evidence, gain } = finding
    const [sign, word] = LOOKS[severity]
    const saving = gain ? `; could save ${formatTime(gain.savedNs)} over one call of each (${ratioWords(gain.factor)}: ${gain.how})` : ''
    return `<li><p><strong class="${severity}">${sign} ${word}</strong> <strong>${escapeHtml(findingTitle(finding))}</strong> <span class="muted">${rows.length} ${rows.length === 1 ? 'result' : 'results'}</span></p><p>${escapeHtml(sentence)}</p><p class="muted">${escapeHtml(evidence.map(({ name, value }) => `${name}: ${value}`).join('; ') + saving)}</p></li>`
  })
  const list = (some: readonly string[]) => `<ol class="findings">${some.join('\n')}</ol>`
  const more = items.slice(FIRST)
  return list(items.slice(0, FIRST)) + (more.length ? `\n<details><summary>${more.length} more</summary>${list(more)}</details>` : '')
}
