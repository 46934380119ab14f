import type { ChartUnit } from '../unit'
import { distributionCsv, distributionOption } from './option'

export default {
  id: 'distribution',
  title: 'Distribution',
  about: 'How the samples of the selected results are distributed, and how they went over time',
  order: 40,
  samples: ({ points, selected }) => (selected.size ? [...selected].slice(-1) : points.slice(-1).map((point) => point.id)),
  draw({ results, theme, reading }) {
    const [result] = results
    return {
      option: result && distributionOption(result.samplesNs, result.summary, theme.colorOf(result.case.backend, result.case.impl), theme, result),
      empty: reading ? 'Reading the samples…' : result ? 'This case has no samples, because it ended before it was timed.' : 'Select a row to see how its samples are distributed.',
      csv: () => (result ? distributionCsv(result.samplesNs, result) : ''),
    }
  },
} satisfies ChartUnit
