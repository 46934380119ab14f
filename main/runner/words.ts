import type { BenchmarkCase } from '@core/case'
import { caseText } from '@core/case-words'
import { findSuite } from '@core/suites'
import type { SweepSpec } from '@core/session/sweep-spec'

/** `a, b, c and 4 more`. */
export function listed(words: readonly string[], most: number, separator = ', '): string {
  if (words.length <= most) return words.join(separator)
  return `${words.slice(0, most).join(separator)} and ${words.length - most} more`
}

/** One case in words, the variant and the device included: `sum last 16384x4096 f32 cuda:0 kernel cold`. */
export const caseWords = (c: BenchmarkCase): string => caseText(c, false, c.device)

/** Name of a session whose user gave none: the title of its suite, or `softmax, layer_norm · f32, bf16 · cpu, cuda`. */
export function sessionName(spec: SweepSpec): string {
  const suite = findSuite(spec.suite ?? '')
  if (suite) return suite.title
  const backends = [...new Set(spec.targets.map((target) => target.backend))]
  return `${listed(spec.ops.map((pick) => pick.op), 3)} · ${listed(spec.dtypes, 3)} · ${listed(backends, 4)}`.slice(0, 200)
}
