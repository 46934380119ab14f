import { TWO_INTERVALS } from '../../analysis/case-runs'
import { seriesKey } from '../../series-colors'
import type { SessionFile } from '../../session/types'
import { reportOf } from '../shared/report/model'
import type { ExportContext } from '../types'
import { seriesStyle, sessionCharts } from './charts'
import { escapeHtml } from './escape'
import { findingsHtml } from './findings'
import { pageHtml } from './page'
import { factsHtml, listHtml, tableHtml } from './tables'

/** A session as a report in one file. */
export function reportHtml(file: SessionFile, context: ExportContext): string {
  const report = reportOf(file, context)
  const keys = [...new Set(file.results.map((r) => seriesKey(r.case)))]
  const body = `<h1>${escapeHtml(report.title)}</h1>
<p class="muted">${escapeHtml(report.summary)}</p>
<p class="muted">${escapeHtml(report.machine)}</p>
${report.tags.length ? `<p>${report.tags.map((tag) => `<span class="tag">${escapeHtml(tag)}</span>`).join('')}</p>` : ''}
${report.notes ? `<p class="notes">${escapeHtml(report.notes)}</p>` : ''}
<h2>Findings</h2>
${findingsHtml(report.findings)}
<h2>Charts</h2>
${sessionCharts(file.results) || '<p class="muted">No case of this session was measured and right, so there is nothing to draw.</p>'}
<h2>Results</h2>
<p class="muted">Median of the samples of each case with the half width of its 95 % interval. Rates follow from the least traffic and the operations of the case; efficiency is the share of the measured ceiling that binds it. Grade A: clean and converged; B: noisy; C: throttled, disturbed or not converged.</p>
${tableHtml('Results', report.results)}
${report.runs.rows.length ? `<h2>Over runs</h2>\n<p class="muted">${TWO_INTERVALS}</p>\n${tableHtml('Over runs', report.runs)}\n` : ''}${report.ceilings.rows.length ? `<h2>Ceilings</h2>\n${tableHtml('Ceilings', report.ceilings)}` : ''}
<h2>Environment</h2>
${listHtml(report.warnings)}
${factsHtml(report.environment)}`
  return pageHtml(report.title, body, seriesStyle(keys))
}
