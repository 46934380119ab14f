/** The report's own style sheet: system fonts, no network, light and dark. */
export const STYLE = `
:root{color-scheme:light dark;--bg:#fff;--text:#1b1f24;--muted:#5f6672;--line:#d9dde3;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--bg:#15181c;--text:#e6e9ee;--muted:#a3abb8;--line:#333a43;--bad:#ff8a80}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1240px;padding:24px;background:var(--bg);color:var(--text);font:13px/1.5 Inter,system-ui,sans-serif;font-variant-numeric:tabular-nums}
h1{font-size:22px;margin:0}h2{font-size:16px;margin:32px 0 8px}h3{font:600 13px/1.5 "JetBrains Mono",ui-monospace,monospace;margin:16px 0 4px}
p{margin:4px 0}.muted,figcaption{color:var(--muted)}.notes{white-space:pre-wrap;max-width:80ch}
.tag{border:1px solid var(--line);border-radius:4px;padding:0 6px;margin-right:4px}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));gap:16px}
figure{margin:0}svg{width:100%;height:auto;display:block}svg text{font-size:11px;fill:var(--muted)}.grid{stroke:var(--line)}
g[class^=s] polyline,g[class^=s] line,.legend polyline{stroke:var(--c);stroke-width:1.5;fill:none}circle{fill:var(--c)}svg text.row{fill:var(--text);font-family:"JetBrains Mono",ui-monospace,monospace}svg.dot{width:8px!important}figure+figure{margin-top:16px}
.legend{list-style:none;margin:4px 0;padding:0;display:flex;flex-wrap:wrap;gap:4px 16px;font:12px/1.5 "JetBrains Mono",ui-monospace,monospace}.legend svg{width:28px;height:8px;display:inline-block;margin-right:6px;vertical-align:middle}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:12px;width:100%}
th,td{text-align:left;padding:4px 8px;border-bottom:1px solid var(--line);white-space:nowrap}th{position:sticky;top:0;background:var(--bg);color:var(--muted);font-weight:600}
table.facts th{width:200px;position:static}td.n,th.n{text-align:right}td.id{font-family:"JetBrains Mono",ui-monospace,monospace}td.wide{white-space:pre-line;min-width:240px}.bad{color:var(--bad)}
@page{size:A4 landscape;margin:12mm}
@media print{:root{color-scheme:light;--bg:#fff;--text:#1b1f24;--muted:#5f6672;--line:#d9dde3;--bad:#b3261e}body{max-width:none;padding:0}section,tr{break-inside:avoid}h2,h3{break-after:avoid}thead{display:table-header-group}th{position:static}.scroll{overflow:visible}table{font-size:9px}td,th{padding:2px 4px}td.wide{min-width:0}}
`
