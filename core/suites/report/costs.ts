import { sizeOf } from '../../analysis/size'
import { median } from '../../stats/descriptive'
import { ABSENT, formatBandwidth, formatBytes, formatCount, formatFlops, formatPercent, formatTime, formatWaves } from '../../units'
import { about, dashText, highest, implName, lowest, NOT_MEASURED, text, timesWriter, words, type Material, type Measured, type RatedResult, type SuiteCell, type SuitePart } from './material'

/** Most memory that a case needed: what the library allocated besides where that is known. */
const peakBytes = ({ libraryPeakBytes, caseBytes }: Measured): number | undefined => (caseBytes === undefined && libraryPeakBytes === undefined ? undefined : (caseBytes ?? 0) + (libraryPeakBytes ?? 0))

/** The same in words. */
export const peakMemory = (result: Measured): string => formatBytes(peakBytes(result))

/** Peak memory of each operation and size, by implementation. */
export function memoryPart(material: Material): SuitePart | undefined {
  const { impls } = material
  const rows = material.byWork().map((group) => [
    text(words(group[0]!.case)), text(group[0]!.case.dtype),
    ...impls.map((impl): SuiteCell => {
      const result = group.find(({ case: c }) => implName(c) === impl)
      if (result === undefined) return material.without(group[0]!.case, impl)
      return peakBytes(result) === undefined ? text(ABSENT) : { text: peakMemory(result), result: result.id }
    }),
  ])
  return rows.length === 0 ? undefined : { title: 'Peak memory', text: `Inputs, outputs and workspace of the case, and what the library allocated beside them during a call.${dashText(rows, NOT_MEASURED)}`, table: { heads: [{ title: 'operation', mono: true }, { title: 'dtype' }, ...impls.map((title) => ({ title, numeric: true }))], rows } }
}

/** Every result with its class and its rates. */
export function ratesPart(material: Material): SuitePart | undefined {
  const rows = material.ok.map((result) => {
    const { case: c, medianNs, bytes = 0, flops = 0 } = result
    const point = material.point(result)
    const elements = sizeOf(c)
    const perSecond = (amount: number) => amount / (medianNs / 1e9)
    const cell = about(result)
    return [
      cell(words(c)), cell(implName(c)), cell(formatTime(medianNs)), cell(elements === undefined ? ABSENT : `${formatCount(perSecond(elements))}/s`), cell(formatBandwidth(perSecond(bytes))), cell(flops > 0 ? formatFlops(perSecond(flops)) : ABSENT),
      cell(point?.bound ? `${point.bound} bound` : ABSENT), cell(point?.efficiency === undefined ? ABSENT : formatPercent(point.efficiency)),
    ]
  })
  return rows.length === 0 ? undefined : { title: 'Rates', text: 'Efficiency is the share of the measured ceiling that binds. Cache hits of a call, where the processor counts them, are in the details of its result.', table: { heads: [{ title: 'operation', mono: true }, { title: 'implementation' }, { title: 'median', numeric: true }, { title: 'elements', numeric: true }, { title: 'bandwidth', numeric: true }, { title: 'compute', numeric: true }, { title: 'class' }, { title: 'efficiency', numeric: true }], rows } }
}

/** Time that the host takes to issue a call, by implementation; of implementations whose calls are queued. */
export function launchesPart({ ok, impls }: Material): SuitePart | undefined {
  const rows = impls.flatMap((impl) => {
    const found = ok.flatMap((result): RatedResult[] => (result.hostCallNs === undefined || implName(result.case) !== impl ? [] : [{ value: result.hostCallNs, result: result.id }]))
    const shorter = ok.filter((result) => implName(result.case) === impl && result.hostCallNs !== undefined && result.medianNs < result.hostCallNs).length
    const typical = median(found.map(({ value }) => value))
    if (typical === undefined) return []
    const { time } = timesWriter([typical])
    return [[text(impl), text(String(found.length)), text(time(typical)), lowest(found, time), highest(found, time), text(String(shorter))]]
  })
  return rows.length === 0 ? undefined : { title: 'Launch overhead', text: 'Time that the host takes to issue one call. It is not in the times of the other tables. Where a case takes less, a program that waits for each call is bound by it.', table: { heads: [{ title: 'implementation', mono: true }, { title: 'cases', numeric: true }, { title: 'median', numeric: true }, { title: 'lowest', numeric: true }, { title: 'highest', numeric: true }, { title: 'cases shorter than it', numeric: true }], rows } }
}

/** What our kernels take of a multiprocessor: of each call the kernel that starts most threads. */
export function occupancyPart(material: Material): SuitePart | undefined {
  const rows = material.ok.filter(({ occupancy, case: c }) => occupancy !== undefined && c.mode !== 'cold').map((result) => {
    const efficiency = material.point(result)?.efficiency
    return [`${words(result.case)} ${result.case.dtype}`, result.registers === undefined ? ABSENT : String(result.registers), formatBytes(result.sharedBytes), formatPercent(result.occupancy), formatWaves(result.waves), efficiency === undefined ? ABSENT : formatPercent(efficiency)].map(about(result))
  })
  return rows.length === 0 ? undefined : { title: 'Occupancy', text: 'Of the CUDA kernels, as the driver states it: of each call the kernel that starts most threads.', table: { heads: [{ title: 'operation', mono: true }, { title: 'registers', numeric: true }, { title: 'shared memory', numeric: true }, { title: 'occupancy', numeric: true }, { title: 'waves', numeric: true }, { title: 'efficiency', numeric: true }], rows } }
}
