import type { ProcessorAnswer } from '../../analysis/answer/answer'
import { implementationText } from '../../analysis/answer/words'
import { ABSENT, formatRatio, formatRatioRange } from '../../units'
import { numberCell, type ReportTable } from './report'

/** The fastest implementation of each operation with its share of the cases and its speedup over the baseline. */
export const fastestTable = ({ operations, baseline }: ProcessorAnswer): ReportTable => ({
  heads: [
    { title: 'operation', mono: true },
    { title: 'fastest' },
    { title: 'in cases', numeric: true },
    { title: `speedup over ${implementationText(baseline)}`, numeric: true },
    { title: '95 % CI', numeric: true },
    { title: 'unclear', numeric: true },
  ],
  rows: operations.map(({ op, fastest, wins, cases, unclear, overBaseline: mean }) => [
    { text: op },
    { text: implementationText(fastest) },
    numberCell(`${wins} of ${cases}`, wins / cases),
    numberCell(mean ? formatRatio(mean.ratio) : ABSENT, mean?.ratio),
    mean?.low === undefined || mean.high === undefined ? { text: ABSENT } : numberCell(formatRatioRange(mean.low, mean.high), mean.high - mean.low),
    numberCell(String(unclear), unclear),
  ]),
})
