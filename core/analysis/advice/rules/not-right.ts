import type { Status } from '../../../result'
import { andOthers, caseWords, groupBy } from '../group'
import type { AdviceRule } from '../types'

const WORDS: Readonly<Partial<Record<Status, string>>> = { wrong: 'failed verification', inaccurate: 'exceeded the error bounds (not ranked)', failed: 'failed', crashed: 'crashed', timeout: 'timed out' }

/** Cases that are not ranked: verification failed, inaccurate, failed, crashed or hung. Skipped ones were not tried and say why themselves. */
const rule: AdviceRule = {
  id: 'not-right',
  title: 'Failed or inaccurate',
  find: ({ rows }) =>
    groupBy(rows.filter(({ status }) => WORDS[status] !== undefined), ({ status, case: c }) => [status, c.op, c.dtype, c.backend, c.device, c.impl].join('|')).map((group) => {
      const row = group[0]!
      return {
        rule: rule.id,
        severity: 'problem',
        rows: group.map(({ id }) => id),
        sentence: `${caseWords(row.case)}${andOthers(group.length - 1, 'such case', 'such cases')} ${WORDS[row.status]!}: ${brief(row.message ?? 'no message recorded')}`,
        evidence: [{ name: 'Status', value: row.status }, ...(group.length > 1 ? [{ name: 'Cases', value: String(group.length) }] : [])],
      }
    }),
}

const MAX_MESSAGE = 300
const brief = (text: string) => (text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE - 1)}…` : text)
export default rule
