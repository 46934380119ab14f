import { ceilingsOn } from '../../roofline/ceilings'
import type { Result } from '../../result'
import { blockOf, rowAt } from '../../session/rows'
import type { Ceiling, SessionFile } from '../../session/types'
import { SEVERITIES, type AdviceInput, type AdviceRule, type Finding, type ResultDetails } from './types'

export { findingSchema, type AdviceInput, type AdviceRule, type Finding, type ResultDetails, type Severity } from './types'

const modules = import.meta.glob<{ default: readonly AdviceRule[] }>(['./rules/*.ts', '!./rules/*.test.ts'], { eager: true })

/** Every rule of the files under core/analysis/advice/rules, by id. */
export const RULES: readonly AdviceRule[] = Object.values(modules)
  .flatMap((module) => module.default)
  .sort((a, b) => a.id.localeCompare(b.id))

/** The title of a finding: its own, or that of its rule; the rule's id where this version does not know it. */
export const findingTitle = ({ title, rule }: Pick<Finding, 'title' | 'rule'>): string => title ?? RULES.find(({ id }) => id === rule)?.title ?? rule

/** All findings in their order. */
export const advise = (input: AdviceInput): Finding[] => inOrder(RULES.flatMap((rule) => rule.find(input)))

/** Problems first, then the others by the time that could be saved, largest first, then by severity. */
export function inOrder(findings: readonly Finding[]): Finding[] {
  const rank = ({ severity }: Finding) => SEVERITIES.indexOf(severity)
  const saved = ({ gain }: Finding) => gain?.savedNs ?? -1
  const isProblem = ({ severity }: Finding) => (severity === 'problem' ? 0 : 1)
  return [...findings].sort((a, b) => isProblem(a) - isProblem(b) || saved(b) - saved(a) || rank(a) - rank(b) || b.rows.length - a.rows.length)
}

/** What rules use of a result beyond its row; `taken` samples. */
export const detailsOf = ({ converged, stopReason, timer, labels }: Pick<Result, 'converged' | 'stopReason' | 'timer' | 'labels'>, taken: number): ResultDetails => ({ converged, stopReason, timer, labels, taken })

/** The findings of a whole session. `ceilings` may be of any machine: those of the session's own devices count. */
export function adviseSession({ environment, results }: Pick<SessionFile, 'environment' | 'results'>, ceilings: readonly Ceiling[]): Finding[] {
  const block = blockOf(results, 0)
  return advise({
    rows: results.map((_, i) => rowAt(block, i)),
    ceilings: ceilingsOn(ceilings, environment.devices),
    details: new Map(results.map((result) => [result.id, detailsOf(result, result.samplesNs.length)])),
    environment,
  })
}
