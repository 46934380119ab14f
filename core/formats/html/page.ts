import { sha256 } from '@noble/hashes/sha2.js'
import type { FactGroup } from '../../session/environment'
import type { ReportTable } from '../shared/report'
import source from './report.js?raw'

/** A whole page with the report's style, script and policy around a body of safe HTML. */
export const pageHtml = (title: string, body: string, extraStyle = ''): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}${extraStyle}</style>
</head>
<body>
${body}
<script>${SCRIPT}</script>
</body>
</html>
`

const LIGHT = '--bg:#fff;--raised:#f2f4f7;--text:#1b1f24;--muted:#5f6672;--line:#d9dde3;--bad:#921410;--warn:#965a00;--good:#0b6e54;--accent:#0068a8'
const DARK = '--bg:#15181c;--raised:#22272e;--text:#e6e9ee;--muted:#a3abb8;--line:#333a43;--bad:#ff8177;--warn:#f2b450;--good:#4fc9a4;--accent:#6bb5ee'

/** The report's own style sheet: system fonts, no network, light, dark and print. */
const STYLE = `
:root{color-scheme:light;${LIGHT}}
@media screen{:root[data-theme=dark]{color-scheme:dark;${DARK}}}
@media screen and (prefers-color-scheme:dark){:root:not([data-theme=light]){color-scheme:dark;${DARK}}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1240px;padding:24px;background:var(--bg);color:var(--text);font:13px/1.5 Inter,system-ui,sans-serif;font-variant-numeric:tabular-nums}
h1{font-size:22px;margin:0;padding-right:130px;overflow-wrap:anywhere}h2{font-size:16px;margin:32px 0 8px}h3{font-size:13px;margin:16px 0 4px}h3.op{font-family:"JetBrains Mono",ui-monospace,monospace}nav{margin:8px 0;font-size:12px}nav a{color:var(--accent);text-decoration:none;margin-right:14px;white-space:nowrap}nav a:hover{text-decoration:underline}nav .muted{margin-right:8px}
p{margin:4px 0}.muted,figcaption{color:var(--muted)}.answer{font-size:15px}.notes{white-space:pre-wrap;max-width:80ch}
.tag{border:1px solid var(--line);border-radius:4px;padding:0 6px;margin-right:4px}
.findings{list-style:none;margin:0;padding:0;max-width:110ch}.findings li{padding:6px 0;border-bottom:1px solid var(--line)}.findings p{margin:0;overflow-wrap:anywhere}
.problem,.bad{color:var(--bad)}.warning{color:var(--warn)}.info{color:var(--accent)}.good{color:var(--good)}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr));gap:16px}
.charts.small{grid-template-columns:repeat(auto-fit,minmax(min(100%,280px),1fr))}.charts.small>figure{max-width:420px}h4{font-size:12px;font-weight:600;margin:10px 0 4px}figure{margin:0;position:relative}figure.one{max-width:960px}figure>svg{width:100%;height:auto;display:block;user-select:none;touch-action:pan-y}svg text{font-size:11px}figure>svg{--gx:var(--line);--gy:var(--line);--tx:var(--muted);--ty:var(--muted);--unit:var(--muted)}
.legend polyline{stroke:var(--c);stroke-width:1.5;fill:none}.legend path{fill:var(--c)}svg.dot{width:9px!important;height:9px!important}.charts>div>figure+figure{margin-top:16px}.findings+details{margin-top:6px}summary{cursor:pointer;color:var(--muted)}
.near{stroke:var(--text);stroke-width:2;vector-effect:non-scaling-stroke}.zoom{fill:var(--accent);fill-opacity:.15;stroke:var(--accent)}svg .off{display:none}
.legend{list-style:none;margin:4px 0;padding:0;display:flex;flex-wrap:wrap;gap:4px 16px;font:12px/1.5 "JetBrains Mono",ui-monospace,monospace}.legend svg{width:28px;height:8px;display:inline-block;margin-right:6px;vertical-align:middle}
.legend li[role]{cursor:pointer;border-radius:4px}.legend li[role]:hover{background:var(--raised)}.legend li.off{opacity:.45;text-decoration:line-through}
.tool{font:12px/1.5 Inter,system-ui,sans-serif;color:var(--text);background:var(--bg);border:1px solid var(--line);border-radius:5px;padding:2px 8px}.tool:hover{background:var(--raised)}:focus-visible{outline:2px solid var(--accent);outline-offset:1px}
.theme{float:right;cursor:pointer}.back{position:absolute;right:0;top:-2px;cursor:pointer}.filter{width:220px;margin:0 8px 6px 0}
.tip{position:fixed;z-index:9;pointer-events:none;white-space:pre-line;max-width:420px;background:var(--bg);border:1px solid var(--line);border-radius:5px;padding:4px 8px;box-shadow:0 4px 16px rgb(0 0 0/.2);font-size:12px}[hidden]{display:none!important}
.scroll{overflow-x:auto}table.data{border-collapse:collapse;font-size:12px;width:100%}table.facts{border-collapse:collapse;font-size:12px;width:100%}
th,td{text-align:left;padding:4px 8px;border-bottom:1px solid var(--line);white-space:nowrap}thead th{color:var(--muted);font-weight:600}thead th[tabindex]{cursor:pointer}thead th[tabindex]:hover{color:var(--text)}
th[aria-sort=ascending]:after{content:" ▲"}th[aria-sort=descending]:after{content:" ▼"}
table.facts th{width:200px;color:var(--muted);font-weight:600;vertical-align:top}td.n,th.n{text-align:right}td.id{font-family:"JetBrains Mono",ui-monospace,monospace}td.wide{white-space:pre-line;min-width:240px;overflow-wrap:anywhere}
@page{size:A4 landscape;margin:12mm}
@media print{body{max-width:none;padding:0}section,tr,.findings li{break-inside:avoid}h2,h3{break-after:avoid}h2{margin-top:20px}.findings{max-width:none}.legend{font-size:10px;gap:1px 12px}.charts figure>svg{width:auto;height:230px;max-width:100%}figure.one>svg{width:auto;max-width:100%;max-height:118mm}thead{display:table-header-group}.scroll{overflow:visible}table.data{font-size:8px}td,th{padding:2px 3px}td.wide{min-width:0}.tool,.tip,.count,nav{display:none}}
`

/** The report's script as it stands in the file: no text in it can end its element. */
export const SCRIPT = source.replace(/\/\*[^]*?\*\//g, '').replace(/^[ \t]+/gm, '').replace(/\n{2,}/g, '\n').trim()

const digest = sha256(new TextEncoder().encode(SCRIPT))

/** Nothing may be loaded or sent; only the style of the file applies, and only its own script, by its hash, runs. */
const POLICY = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${btoa(String.fromCharCode(...digest))}'; base-uri 'none'; form-action 'none'`

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

// The C0 controls other than tab and line ends; String.raw keeps them readable here.
const CONTROLS = new RegExp(String.raw`[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]`, 'g')

/** Text without the control characters that HTML forbids: they become U+FFFD. */
export const printable = (text: string): string => text.replace(CONTROLS, '\ufffd')

/** Text that is shown as text, in content and in quoted attributes. */
export const escapeHtml = (text: string): string => printable(text).replace(/[&<>"']/g, (ch) => ENTITIES[ch]!)

/** A table that the report's script can sort and filter; what numeric cells are sorted by stands in data-v. */
export function tableHtml(label: string, { heads, rows }: ReportTable): string {
  const classOf = (i: number, tone?: string) => [heads[i]!.numeric ? 'n' : heads[i]!.mono ? 'id' : heads[i]!.wide ? 'wide' : '', tone ?? ''].filter(Boolean).join(' ')
  const attribute = (name: string) => (name ? ` class="${name}"` : '')
  const head = heads.map(({ title }, i) => `<th scope="col"${attribute(heads[i]!.numeric ? 'n' : '')}>${escapeHtml(title)}</th>`).join('')
  const body = rows.map((row) => `<tr>${row.map(({ text, value, tone }, i) => `<td${attribute(classOf(i, tone))}${value === undefined ? '' : ` data-v="${value}"`}>${escapeHtml(text)}</td>`).join('')}</tr>`)
  return `<div class="scroll"><table class="data" aria-label="${escapeHtml(label)}"><thead><tr>${head}</tr></thead><tbody>${body.join('\n')}</tbody></table></div>`
}

/** Facts in groups, each a name and a value. */
export const factsHtml = (groups: readonly FactGroup[]): string =>
  groups
    .map(({ title, facts }) => `<h3>${escapeHtml(title)}</h3><div class="scroll"><table class="facts">${facts.map(([name, value]) => `<tr><th scope="row">${escapeHtml(name)}</th><td class="wide">${escapeHtml(value)}</td></tr>`).join('')}</table></div>`)
    .join('\n')

export const listHtml = (items: readonly string[]): string => (items.length ? `<ul>${items.map((text) => `<li>${escapeHtml(text)}</li>`).join('')}</ul>` : '')
