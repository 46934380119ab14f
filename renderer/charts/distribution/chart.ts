import type { Result } from '@core/result'
import type { ChartPoint } from '../types'
import type { ChartUnit } from '../unit'
import { problemNames, variantsOf } from '../variants'
import { readingsOf } from './conditions'
import { distributionCsv, distributionOption } from './option'
import { MOST_OVERLAID, overlayCsv, overlayOption, preferredScale, type Overlaid } from './overlay'

/** Names that tell these results apart. */
function named(results: readonly Result[]): Overlaid[] {
  const points = results.map((result): ChartPoint => ({ id: result.id, case: result.case, medianNs: result.summary?.medianNs ?? 0, bytes: result.bytes, flops: result.flops, samples: result.samplesNs.length }))
  const { of } = variantsOf(points)
  const nameOf = problemNames(points)
  const names = results.map((result) => `${nameOf(result.case)} · ${of(result.case)}`)
  // The same case measured twice.
  return results.map((result, i) => ({ result, label: names.indexOf(names[i]!) === i ? names[i]! : `${names[i]!} (${names.slice(0, i + 1).filter((name) => name === names[i]).length})` }))
}

export default {
  id: 'distribution',
  title: 'Distribution',
  about: 'How the samples of the selected results are distributed, and how they went over time',
  order: 40,
  samples: ({ points, selected }) => (selected.size ? [...selected].slice(-MOST_OVERLAID) : points.slice(-1).map((point) => point.id)),
  controls({ results }) {
    const [result] = results
    if (!result) return []
    if (results.length > 1) return [{ id: 'scale', label: 'Scale', options: [{ value: 'time', title: 'Time per call' }, { value: 'relative', title: 'Relative to the median' }], preferred: preferredScale(results) }]
    const readings = readingsOf(result, result.samplesNs.length)
    return [{ id: 'beside', label: 'Beside the samples', options: readings.length ? [...readings.map(({ id, name }) => ({ value: id, title: `with ${name}` })), { value: 'none', title: 'samples alone' }] : [] }]
  },
  draw({ results, theme, reading, values, selected, size }) {
    const [result] = results
    const empty = reading ? 'Reading the samples…' : result ? 'This case has no samples, because it ended before it was timed.' : 'Select a row to see how its samples are distributed.'
    if (results.length > 1) {
      const shown = named(results)
      return {
        option: overlayOption(shown, values['scale'] === 'relative' ? 'relative' : 'time', theme, size.width),
        empty,
        ...(selected.size > MOST_OVERLAID ? { note: { text: `Last ${MOST_OVERLAID} of ${selected.size} selected results` } } : {}),
        csv: () => overlayCsv(shown),
      }
    }
    return {
      option: result && distributionOption(result.samplesNs, result.summary, theme.colorOf(result.case.backend, result.case.impl), theme, result, values['beside']),
      empty,
      ...(result ? { note: { text: `${named([result])[0]!.label}${selected.size ? '' : ', the last measured'}`, about: `Select up to ${MOST_OVERLAID} rows to lay their samples over each other` } } : {}),
      csv: () => (result ? distributionCsv(result.samplesNs, result) : ''),
    }
  },
} satisfies ChartUnit
