import { sizeOf } from '../../analysis/size'
import { findOp } from '../../ops/registry'
import { statusWord } from '../../result'
import { geometricMean } from '../../stats/descriptive'
import { formatPercent, formatRatio, formatTime } from '../../units'
import { highest, implName, lowest, text, words, type Material, type RatedResult, type SuiteCell, type SuitePart } from './material'

const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length

/** Samples vary by more than this share of their mean: a red flag of the Genesis suite. */
const HIGH_VARIATION = 0.2

/** Size classes of the performance guide, in elements. */
const CLASSES: readonly (readonly [title: string, most: number])[] = [['small', 2 ** 20], ['medium', 2 ** 23], ['large', 2 ** 25], ['xlarge', Infinity]]

/** Mean, best and worst share of the measured bandwidth, by size class and implementation. */
export function classesPart(material: Material): SuitePart | undefined {
  const shares = material.ok.flatMap((result) => {
    const share = material.bandwidthShare(result)
    const size = sizeOf(result.case)
    const family = findOp(result.case.op)?.family
    return share === undefined || size === undefined || !['memory', 'binary', 'unary', 'activation'].includes(family ?? '') ? [] : [{ impl: implName(result.case), value: share, result: result.id, className: CLASSES.find(([, most]) => size <= most)![0] }]
  })
  const rows = material.impls.flatMap((impl) => CLASSES.flatMap(([className]) => {
    const found = shares.filter((one) => one.impl === impl && one.className === className)
    return found.length === 0 ? [] : [[text(impl), text(className), text(formatPercent(mean(found.map(({ value }) => value)))), highest(found, formatPercent), lowest(found, formatPercent)]]
  }))
  return rows.length === 0
    ? { title: 'Bandwidth by size class', text: 'Unavailable: measure the ceilings of this device first (Devices, or opscope ceilings).' }
    : { title: 'Bandwidth by size class', text: 'Share of the measured memory bandwidth, element-wise operations.', table: { heads: [{ title: 'implementation', mono: true }, { title: 'class' }, { title: 'mean', numeric: true }, { title: 'best', numeric: true }, { title: 'worst', numeric: true }], rows } }
}

/** Reductions by axis: speedup over the library, geometric mean over operations and sizes. */
export function axesPart(material: Material): SuitePart | undefined {
  const groups = new Map<string, RatedResult[]>()
  for (const result of material.ok) {
    const axis = result.case.params['axis'] ?? result.case.params['broadcast']
    const speedup = material.speedup(result)
    if (typeof axis !== 'string' || speedup === undefined) continue
    const key = `${implName(result.case)}|${result.case.params['axis'] === undefined ? `sum_to_shape ${axis}` : axis}`
    groups.set(key, [...(groups.get(key) ?? []), { value: speedup, result: result.id }])
  }
  const rows = [...groups].map(([key, speedups]) => [...key.split('|').map(text), text(formatRatio(geometricMean(speedups.map(({ value }) => value)))), lowest(speedups, formatRatio)])
  return rows.length === 0 ? undefined : { title: 'Reductions by axis', text: `Speedup over ${material.suite.against}.`, table: { heads: [{ title: 'implementation', mono: true }, { title: 'axis' }, { title: 'geometric mean', numeric: true }, { title: 'lowest', numeric: true }], rows } }
}

/** How many results each limit binds, and how near they come to it. */
export function boundsPart(material: Material): SuitePart | undefined {
  const rows = (['memory', 'compute', 'latency'] as const).flatMap((bound) => {
    const found = material.ok.flatMap((result) => {
      const point = material.point(result)
      return point?.bound === bound ? [point.efficiency ?? 0] : []
    })
    return found.length === 0 ? [] : [[text(`${bound} bound`), text(String(found.length)), text(formatPercent(mean(found)))]]
  })
  return rows.length === 0
    ? { title: 'What binds', text: 'Unavailable: measure the ceilings of this device first (Devices, or opscope ceilings).' }
    : { title: 'What binds', table: { heads: [{ title: 'class' }, { title: 'results', numeric: true }, { title: 'mean efficiency', numeric: true }], rows } }
}

/** Red flags: failures, failed verification, high variation, low grades. */
export function flagsPart({ results }: Material): SuitePart {
  const rows = results.flatMap((result): SuiteCell[][] => {
    const row = (what: string) => [[{ text: `${words(result.case)} ${result.case.dtype} ${implName(result.case)}`, result: result.id }, text(what)]]
    if (result.status !== 'ok') return row(`${statusWord(result.status)}${result.message ? `: ${result.message}` : ''}`)
    const { meanNs, stddevNs } = result
    if (meanNs && stddevNs && stddevNs / meanNs > HIGH_VARIATION) return row(`high variation: ${formatTime(meanNs)} ± ${formatTime(stddevNs)}`)
    return result.grade === 'C' ? row(`grade C: ${result.gradeReasons?.[0] ?? 'see the details of the result'}`) : []
  })
  return rows.length === 0 ? { title: 'Red flags', text: 'None: no failure, no failed verification, no high variation.' } : { title: 'Red flags', table: { heads: [{ title: 'result', mono: true }, { title: 'what', wide: true }], rows } }
}
