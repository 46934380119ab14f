import type { Result } from '../../result'
import { roofline, roofsOf } from '../../roofline/roofline'
import { seriesKey } from '../../series-colors'
import { environmentGroups, environmentWarnings } from '../../session/environment-facts'
import type { Environment, SessionFile } from '../../session/types'
import { ABSENT, chooseBandwidthUnit, chooseFlopsUnit, chooseTimeUnit, formatIn, formatInterval, formatPercent } from '../../units'
import type { ExportContext, FileFormat } from '../types'
import { seriesStyle, sessionCharts, shapeWords } from './charts'
import { escapeHtml } from './escape'
import { STYLE } from './style'

/** Nothing may be loaded or run; only the style below applies. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

const median = (values: readonly number[]) => (values.length ? [...values].sort((a, b) => a - b)[values.length >> 1] : undefined)

const pairs = (rows: readonly (readonly [string, string])[]) => `<div class="scroll"><table class="facts">${rows.map(([name, value]) => `<tr><th>${escapeHtml(name)}</th><td class="wide">${escapeHtml(value)}</td></tr>`).join('')}</table></div>`

/** The whole environment record, what casts doubt on the figures first. */
function environmentTables(environment: Environment): string {
  const warnings = environmentWarnings(environment)
  const missing = environment.devices.flatMap((device) => (device.available.ok ? [] : [[device.id, device.available.reason] as const]))
  const groups = [...environmentGroups(environment), ...(missing.length ? [{ title: 'Not available', facts: missing }] : [])]
  return [...(warnings.length ? [`<ul>${warnings.map((text) => `<li>${escapeHtml(text)}</li>`).join('')}</ul>`] : []), ...groups.map((group) => `<h3>${escapeHtml(group.title)}</h3>${pairs(group.facts)}`)].join('\n')
}

/** One row per result, in the order measured; each numeric column in the unit of its median. */
function resultTable(results: readonly Result[], { ceilings }: ExportContext): string {
  const known = results.flatMap((r) => (r.summary && r.summary.medianNs > 0 ? [{ ns: r.summary.medianNs, r }] : []))
  const time = chooseTimeUnit(median(known.map(({ ns }) => ns)))
  const bandwidth = chooseBandwidthUnit(median(known.map(({ ns, r }) => (r.bytes / ns) * 1e9)))
  const rate = chooseFlopsUnit(median(known.flatMap(({ ns, r }) => (r.flops > 0 ? [(r.flops / ns) * 1e9] : []))))
  const heads = ['op', 'shape', 'dtype', 'device', 'impl', 'mode', 'threads', 'status', `median ${time.name}`, '±95 %', bandwidth.name, rate.name, 'efficiency', 'error', 'grade', 'message']
  const numeric = new Set([6, 8, 9, 10, 11, 12, 13])
  const rows = results.map((r) => {
    const { case: c, summary: s } = r
    const point = s && s.medianNs > 0 ? roofline({ bytes: r.bytes, flops: r.flops, medianNs: s.medianNs }, r.status === 'ok' ? roofsOf(ceilings, c, c.dtype) : {}) : undefined
    const cells = [
      c.op, shapeWords(c), c.dtype, c.device, c.impl, c.mode, c.threads === undefined ? ABSENT : String(c.threads), r.status, formatIn(s?.medianNs, time), formatInterval(s?.medianNs, s?.ciLowNs, s?.ciHighNs),
      formatIn(point?.bytesPerSecond, bandwidth), formatIn(point?.flopsPerSecond || undefined, rate), formatPercent(point?.efficiency), r.verification?.relL2?.toExponential(1) ?? ABSENT, r.grade ?? ABSENT, r.message ?? '',
    ]
    const classes = (i: number) => [numeric.has(i) ? 'n' : i < 6 ? 'id' : i === 15 ? 'wide' : '', i === 7 && r.status !== 'ok' ? 'bad' : ''].filter(Boolean).join(' ')
    return `<tr>${cells.map((cell, i) => `<td class="${classes(i)}">${escapeHtml(cell)}</td>`).join('')}</tr>`
  })
  return `<div class="scroll"><table><thead><tr>${heads.map((head, i) => `<th${numeric.has(i) ? ' class="n"' : ''}>${escapeHtml(head)}</th>`).join('')}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div>`
}

function exportHtml(file: SessionFile, context: ExportContext): string {
  const { session, environment, results } = file
  const keys = [...new Set(results.map((r) => seriesKey(r.case)))]
  const bad = results.filter((r) => r.status !== 'ok').length
  const summary = `${results.length} of ${session.planned} cases, ${bad === 0 ? 'all right' : `${bad} not ok`} · ${session.createdAt.replace('T', ' ').replace(/\.\d+Z$/, ' UTC')} · ${session.state}`
  const name = session.name || 'Untitled session'
  const charts = sessionCharts(results)
  const machine = [environment.host, environment.cpu, ...environment.devices.filter((device) => device.available.ok && device.name !== environment.cpu).map((device) => device.name + (device.software ? ' (software)' : '')), environment.os].join(' · ')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(name)}</title>
<style>${STYLE}${seriesStyle(keys)}</style>
</head>
<body>
<h1>${escapeHtml(name)}</h1>
<p class="muted">${escapeHtml(summary)}</p>
<p class="muted">${escapeHtml(machine)}</p>
${session.tags.length ? `<p>${session.tags.map((tag) => `<span class="tag">${escapeHtml(tag)}</span>`).join('')}</p>` : ''}
${session.notes ? `<p class="notes">${escapeHtml(session.notes)}</p>` : ''}
<h2>Charts</h2>
${charts || '<p class="muted">No case of this session was measured and right, so there is nothing to draw.</p>'}
<h2>Results</h2>
<p class="muted">Median of the samples of each case with the half width of its 95 % interval. Rates follow from the least traffic and the operations of the case; efficiency is the share of the measured ceiling that binds it.</p>
${resultTable(results, context)}
<h2>Environment</h2>
${environmentTables(environment)}
</body>
</html>
`
}

/** A report in one file, with its charts, to open in any browser without a network. */
const format: FileFormat = { id: 'html', title: 'HTML', description: 'Report with charts, in one file to send', extension: 'html', exportSession: exportHtml }
export default format
