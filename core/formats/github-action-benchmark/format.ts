import { formatPercent } from '../../units'
import type { SessionFile } from '../../session/types'
import { writeJson } from '../shared/json'
import { figuresPerCase, type CaseFigure } from '../shared/per-case'
import type { FileFormat } from '../file-format'

/** Half of the interval as the action shows it behind the value; three digits say all there is to say of it. */
const halfInterval = ({ lowNs, highNs }: CaseFigure): string | undefined => (lowNs === undefined || highNs === undefined ? undefined : `± ${Number(((highNs - lowNs) / 2).toPrecision(3))}`)

/** What the tooltip of a point in the action's chart tells. */
function extra({ case: c, results, medianNs, lowNs, highNs }: CaseFigure): string {
  const samples = results.reduce((sum, result) => sum + (result.summary?.count ?? 0), 0)
  const grades = [...new Set(results.flatMap(({ grade }) => grade ?? []))].sort()
  const bytes = results[0]?.bytes ?? 0
  return [
    `${c.backend} ${c.impl} on ${c.device}, ${c.mode}`,
    samples > 0 ? `${samples} samples${results.length > 1 ? ` in ${results.length} runs` : ''}` : undefined,
    lowNs !== undefined && highNs !== undefined && medianNs > 0 ? `95 % CI ± ${formatPercent((highNs - lowNs) / 2 / medianNs)}` : undefined,
    grades.length ? `grade ${grades.join(', ')}` : undefined,
    bytes > 0 && medianNs > 0 ? `${(bytes / medianNs).toPrecision(4)} GB/s` : undefined,
  ].filter((line) => line !== undefined).join('\n')
}

/**
 * An entry per case with a right result, for `tool: customSmallerIsBetter`: `value` is the median in ns, `range` half of
 * its 95 % CI. Names never change between sessions, so that the action's charts go on.
 */
function exportEntries(file: SessionFile): string {
  const lines = figuresPerCase(file.results).map((figure) => writeJson({ name: figure.name, unit: 'ns', value: figure.medianNs, range: halfInterval(figure), extra: extra(figure) }))
  return `[${lines.length ? `\n${lines.join(',\n')}\n` : ''}]\n`
}

const format: FileFormat = {
  id: 'github-action-benchmark', title: 'GitHub Action Benchmark', extension: 'json',
  description: 'Medians for the action `benchmark-action/github-action-benchmark` (`customSmallerIsBetter`)',
  exportSession: exportEntries,
}
export default format
