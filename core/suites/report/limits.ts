import { SIZE_CLASS_NAMES, sizeClassOf, targetWord } from '../../analysis/ratings/scales'
import { findOp } from '../../ops/registry'
import { statusWord } from '../../result'
import { geometricMean } from '../../stats/descriptive'
import { ABSENT, formatPercent, formatRatio, formatSpread } from '../../units'
import { about, dashText, doubtOf, highest, implName, lowest, text, timesWriter, words, type Material, type RatedResult, type SuiteCell, type SuitePart } from './material'

const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length

/** Mean, best and worst share of the measured bandwidth against the minimum and target, by size class and implementation. */
export function classesPart(material: Material): SuitePart | undefined {
  const shares = material.ok.flatMap((result) => {
    const share = material.bandwidthShare(result)
    const sizeClass = sizeClassOf(result.case)
    return share === undefined || sizeClass === undefined ? [] : [{ impl: implName(result.case), value: share, result: result.id, sizeClass }]
  })
  const rows = material.impls.flatMap((impl) => SIZE_CLASS_NAMES.flatMap((name) => {
    const found = shares.filter((one) => one.impl === impl && one.sizeClass.name === name)
    const [first] = found
    if (!first) return []
    const average = mean(found.map(({ value }) => value))
    return [[text(impl), text(name), text(formatPercent(first.sizeClass.minimum)), text(formatPercent(first.sizeClass.target)), text(formatPercent(average)), highest(found, formatPercent), lowest(found, formatPercent), text(targetWord(average, first.sizeClass))]]
  }))
  return rows.length === 0
    ? { title: 'Bandwidth by size class', text: 'Unavailable: measure the ceilings of this device first (Devices, or opscope ceilings).' }
    : { title: 'Bandwidth by size class', text: 'Share of the measured memory bandwidth, element-wise operations. Above 100 %, a cache serves part of the traffic.', table: { heads: [{ title: 'implementation', mono: true }, { title: 'class' }, { title: 'minimum', numeric: true }, { title: 'target', numeric: true }, { title: 'mean', numeric: true }, { title: 'best', numeric: true }, { title: 'worst', numeric: true }, { title: 'mean against target' }], rows } }
}

/** Reductions by axis: speedup over the library, geometric mean over operations and sizes. */
export function axesPart(material: Material): SuitePart | undefined {
  const groups = new Map<string, RatedResult[]>()
  const published = material.suite.publishedAxes
  for (const result of material.ok) {
    if (!['reduction', 'backward'].includes(findOp(result.case.op)?.family ?? '')) continue
    const axis = result.case.params['axis'] ?? result.case.params['broadcast']
    const speedup = material.speedup(result)
    if (typeof axis !== 'string' || speedup === undefined) continue
    const key = `${implName(result.case)}|${result.case.params['axis'] === undefined ? `sum_to_shape ${axis}` : axis}`
    groups.set(key, [...(groups.get(key) ?? []), { value: speedup, result: result.id }])
  }
  const rows = [...groups].map(([key, speedups]) => [...key.split('|').map(text), text(String(speedups.length)), text(formatRatio(geometricMean(speedups.map(({ value }) => value)))), lowest(speedups, formatRatio), highest(speedups, formatRatio), ...(published ? [text(published[key.split('|')[1]!] ?? ABSENT)] : [])])

  return rows.length === 0 ? undefined : { title: 'Reductions by axis', text: `Speedup over ${material.suite.against}.${dashText(rows, 'not published')}`, table: { heads: [{ title: 'implementation', mono: true }, { title: 'axis' }, { title: 'cases', numeric: true }, { title: 'geometric mean', numeric: true }, { title: 'lowest', numeric: true }, { title: 'highest', numeric: true }, ...(published ? [{ title: 'published', wide: true }] : [])], rows } }
}

/** How many results each limit binds, and how near they come to it. */
export function boundsPart(material: Material): SuitePart {
  const rows = (['memory', 'compute', 'latency'] as const).flatMap((bound) => {
    const found = material.ok.flatMap((result) => {
      const point = material.point(result)
      return point?.bound === bound ? [{ value: point.efficiency ?? 0, result: result.id, above: point.flag !== undefined }] : []
    })
    const judged = found.filter(({ above }) => !above)
    const shares = judged.length === 0 ? [text(ABSENT), text(ABSENT), text(ABSENT)] : [text(formatPercent(mean(judged.map(({ value }) => value)))), lowest(judged, formatPercent), highest(judged, formatPercent)]
    return found.length === 0 ? [] : [[text(`${bound} bound`), text(String(found.length)), ...shares, text(String(found.length - judged.length))]]
  })
  return rows.length === 0
    ? { title: 'Bottlenecks', text: 'Unavailable: measure the ceilings of this device first (Devices, or opscope ceilings).' }
    : { title: 'Bottlenecks', text: 'Efficiency is the share of the measured ceiling. Results above the ceiling, most of them served by a cache, are not in the mean, the lowest and the highest.', table: { heads: [{ title: 'class' }, { title: 'results', numeric: true }, { title: 'mean efficiency', numeric: true }, { title: 'lowest', numeric: true }, { title: 'highest', numeric: true }, { title: 'above the ceiling', numeric: true }], rows } }
}

/** Red flags: failures, failed verification, high variation, low grades. */
export function flagsPart({ results }: Material): SuitePart {
  const rows = results.flatMap((result): SuiteCell[][] => {
    const row = (what: string) => [[`${words(result.case)} ${result.case.dtype} ${implName(result.case)}`, what].map(about(result))]
    if (result.status !== 'ok') return row(`${statusWord(result.status)}${result.message ? `: ${result.message}` : ''}`)
    const { meanNs, stddevNs } = result
    const doubt = doubtOf(result)
    if (doubt === 'high variation' && meanNs && stddevNs) {
      const { unit } = timesWriter([meanNs])
      return row(`${doubt}: ${formatSpread(meanNs, stddevNs, unit)} ${unit.name}`)
    }
    return doubt ? row(`grade C: ${result.gradeReasons?.[0] ?? 'see the details of the result'}`) : []
  })
  return rows.length === 0 ? { title: 'Red flags', text: 'None: no failure, no failed verification, no high variation.' } : { title: 'Red flags', table: { heads: [{ title: 'result', mono: true }, { title: 'what', wide: true }], rows } }
}
