import { seriesKey } from '../../backends'
import type { OperationAnswer, ProcessorAnswer } from '../../analysis/answer/answer'
import { implementationText } from '../../analysis/answer/words'
import { ABSENT, formatRatio, formatRatioRange, speedupWords } from '../../units'
import { numberCell, type ReportTable } from './report'

/** The fastest of the other implementations in an operation, by the mean over the baseline, and how it compares: `webgpu wgsl, 1.22x slower`. */
function nextFastest({ op, fastest, overBaseline }: OperationAnswer, { baseline, meansByOperation }: ProcessorAnswer): string {
  const own = seriesKey(fastest)
  const means = meansByOperation.find((one) => one.op === op)?.means ?? []
  const others = [...means, { implementation: baseline, ratio: 1 }].filter(({ implementation }) => seriesKey(implementation) !== own)
  if (!others.length || (!overBaseline && own !== seriesKey(baseline))) return ABSENT
  const next = others.reduce((best, one) => (one.ratio > best.ratio ? one : best))
  return `${implementationText(next.implementation)}, ${speedupWords(next.ratio / (overBaseline?.ratio ?? 1))}`
}

/** The fastest implementation of each operation with its share of the cases, its speedup over the baseline, and the next one. */
export function fastestTable(answer: ProcessorAnswer): ReportTable {
  const { operations, baseline } = answer
  return {
    heads: [
      { title: 'operation', mono: true },
      { title: 'fastest' },
      { title: 'in cases', numeric: true },
      { title: `speedup over ${implementationText(baseline)}`, numeric: true },
      { title: '95 % CI', numeric: true },
      { title: 'next fastest' },
      { title: 'unclear', numeric: true },
    ],
    rows: operations.map((operation) => {
      const { op, fastest, wins, cases, unclear, overBaseline: mean } = operation
      return [
        { text: op },
        { text: implementationText(fastest) },
        numberCell(`${wins} of ${cases}`, wins / cases),
        numberCell(mean ? formatRatio(mean.ratio) : seriesKey(fastest) === seriesKey(baseline) ? 'baseline' : ABSENT, mean?.ratio),
        mean?.low === undefined || mean.high === undefined ? { text: ABSENT } : numberCell(formatRatioRange(mean.low, mean.high), mean.high - mean.low),
        { text: nextFastest(operation, answer) },
        numberCell(String(unclear), unclear),
      ]
    }),
  }
}
