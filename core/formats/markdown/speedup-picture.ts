import type { ProcessorAnswer } from '../../analysis/answer/answer'
import { implementationText } from '../../analysis/answer/words'
import { formatRatio } from '../../units'

/** Characters of the longest bar to either side of 1x. */
const REACH = 20
/** Least range of the scale, as log2 of a speedup: 1.4x. */
const LEAST = 0.5

/** Names come from files too: nothing in them may end the block. */
const plain = (text: string) => text.replace(/[`\p{Cc}\u2028\u2029]+/gu, ' ')

/**
 * Speedups over the baseline by operation as bars of text, on a logarithmic scale around 1x: to the right is faster. Operations stand in the order of their
 * best implementation. A code block, which any viewer of Markdown shows; empty where nothing is compared.
 */
export function speedupPicture({ baseline, meansByOperation }: ProcessorAnswer): string {
  const best = (means: readonly { ratio: number }[]) => Math.max(...means.map(({ ratio }) => ratio))
  const shown = meansByOperation.filter(({ means }) => means.length > 0).sort((a, b) => best(b.means) - best(a.means))
  const rows = shown.flatMap(({ op, means }) => means.toSorted((a, b) => b.ratio - a.ratio).map(({ implementation, ratio }, i) => ({ op: i === 0 ? plain(op) : '', name: plain(implementationText(implementation)), ratio })))
  if (rows.length === 0) return ''
  const range = Math.max(LEAST, ...rows.map(({ ratio }) => Math.abs(Math.log2(ratio))))
  const widest = (texts: readonly string[]) => Math.max(...texts.map((text) => text.length))
  const [ops, names, values] = [widest(rows.map(({ op }) => op)), widest(rows.map(({ name }) => name)), widest(rows.map(({ ratio }) => formatRatio(ratio)))]
  const lines = rows.map(({ op, name, ratio }) => {
    const length = Math.round((Math.log2(ratio) / range) * REACH)
    const [left, right] = ['█'.repeat(Math.max(0, -length)).padStart(REACH), '█'.repeat(Math.max(0, length))]
    return `${op.padEnd(ops)}  ${name.padEnd(names)}  ${formatRatio(ratio).padStart(values)}  ${left}│${right}`
  })
  return ['```text', `Speedup over ${plain(implementationText(baseline))} by operation (geometric mean), logarithmic; right of │ is faster`, ...lines, '```'].join('\n')
}
