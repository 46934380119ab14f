import type { SessionFile } from '../../session/types'
import { figuresPerCase } from '../shared/per-case'
import { writeJson } from '../shared/json'
import type { FileFormat } from '../file-format'

/**
 * Bencher Metric Format: one benchmark per case with a right result and of it the built-in measure `latency`, the median in
 * ns with its 95 % CI as lower and upper value. Read it with `bencher run --adapter json`.
 */
function exportMetrics(file: SessionFile): string {
  const lines = figuresPerCase(file.results).map(({ name, medianNs, lowNs, highNs }) => `${JSON.stringify(name)}:${writeJson({ latency: { value: medianNs, lower_value: lowNs, upper_value: highNs } })}`)
  return `{${lines.length ? `\n${lines.join(',\n')}\n` : ''}}\n`
}

const format: FileFormat = { id: 'bencher', title: 'Bencher', description: 'Latencies in the Bencher Metric Format, for `bencher run --adapter json`', extension: 'json', exportSession: exportMetrics }
export default format
