import { ruleTitle, type Finding } from '@core/analysis/advice'
import { formatRatio, formatTime } from '@core/units'
import { oneLine } from '../../printable'

const SIGNS: Readonly<Record<Finding['severity'], string>> = { problem: '[problem]', warning: '[warning]', info: '[note]' }

/** Findings as text, one paragraph each: what, the sentence, what it rests on, what could be gained. */
export function findingList(findings: readonly Finding[]): string {
  if (findings.length === 0) return 'Nothing stands out.'
  return findings
    .map(({ rule, severity, rows, sentence, evidence, gain }) =>
      [
        `${SIGNS[severity]} ${ruleTitle(rule)} (${rows.length} ${rows.length === 1 ? 'row' : 'rows'})`,
        `  ${oneLine(sentence)}`,
        `  ${evidence.map(({ name, value }) => `${oneLine(name)}: ${oneLine(value)}`).join('; ')}`,
        ...(gain ? [`  could save ${formatTime(gain.savedNs)} over one call of each; ${formatRatio(gain.factor)} is the ${gain.how}`] : []),
      ].join('\n'),
    )
    .join('\n\n')
}
