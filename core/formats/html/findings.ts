import { ruleTitle, type Finding } from '../../analysis/advice'
import { formatRatio, formatTime } from '../../units'
import { escapeHtml } from './escape'

const LOOKS: Readonly<Record<Finding['severity'], readonly [sign: string, word: string]>> = { problem: ['✕', 'Problem'], warning: ['▲', 'Warning'], info: ['ℹ', 'Note'] }

/** Findings that are open; the others wait behind a click. */
const FIRST = 8

/** What stands out, most important first, with evidence and gain. */
export function findingsHtml(findings: readonly Finding[]): string {
  if (findings.length === 0) return '<p class="muted">Nothing stands out.</p>'
  const items = findings.map(({ rule, severity, rows, sentence, evidence, gain }) => {
    const [sign, word] = LOOKS[severity]
    const saving = gain ? `; could save ${formatTime(gain.savedNs)} over one call of each (${formatRatio(gain.factor)}: ${gain.how})` : ''
    return `<li><p><strong class="${severity}">${sign} ${word}</strong> <strong>${escapeHtml(ruleTitle(rule))}</strong> <span class="muted">${rows.length} ${rows.length === 1 ? 'result' : 'results'}</span></p><p>${escapeHtml(sentence)}</p><p class="muted">${escapeHtml(evidence.map(({ name, value }) => `${name}: ${value}`).join('; ') + saving)}</p></li>`
  })
  const list = (some: readonly string[]) => `<ol class="findings">${some.join('\n')}</ol>`
  const more = items.slice(FIRST)
  return list(items.slice(0, FIRST)) + (more.length ? `\n<details><summary>${more.length} more</summary>${list(more)}</details>` : '')
}
