import { caseId, type BenchmarkCase } from '../case'
import type { Row } from '../session/rows'
import type { Device } from '../backend'
import { mean, standardDeviation } from '../stats/descriptive'
import { studentQuantile } from '../stats/significance'
import { machineOf } from './machines'
import { placeOf } from './place'

/** How much the cards of one model differ in one case. */
export interface CardSpread {
  /** Name of the devices. */
  model: string
  /** The case as each machine calls it. */
  case: BenchmarkCase
  /** Median of each machine, in ns, fastest first. */
  cards: { machine: string; device: string; medianNs: number }[]
  /** Mean of the cards' medians, and half of its 95 % interval over the cards (Student's t), in ns. */
  meanNs: number
  ciNs: number
  /** Standard deviation over the cards, as a share of the mean. */
  deviation: number
  /** How much longer the slowest card takes than the fastest: 0.05 is 5 %. */
  range: number
}

/**
 * Cards of one model over the machines of a session: for each case that two cards or more have measured. The unit is the
 * card: its repeats count as their mean. Only results that passed count.
 */
export function cardSpread(rows: Iterable<Row>, devices: readonly Device[]): CardSpread[] {
  const names = new Map(devices.map((device) => [`${device.backend} ${device.id}`, device.name]))
  const groups = new Map<string, { model: string; case: BenchmarkCase; byCard: Map<string, { machine: string; device: string; medians: number[] }> }>()
  for (const row of rows) {
    const model = names.get(`${row.case.backend} ${row.case.device}`)
    if (row.status !== 'ok' || row.medianNs === undefined || row.medianNs === null || model === undefined) continue
    // Several cards of one machine are cards, too: the ordinal is no part of the case.
    const local = { ...row.case, device: placeOf(row.case.device).device.replace(/:\d+$/, '') }
    const key = `${model} ${caseId(local)}`
    const group = groups.get(key) ?? { model, case: local, byCard: new Map() }
    groups.set(key, group)
    const card = group.byCard.get(row.case.device) ?? { machine: machineOf(row.case), device: row.case.device, medians: [] }
    group.byCard.set(row.case.device, card)
    card.medians.push(row.medianNs)
  }
  return [...groups.values()].filter(({ byCard }) => byCard.size > 1).map(({ model, case: c, byCard }) => spreadOf(model, c, [...byCard.values()].map(({ machine, device, medians }) => ({ machine, device, medianNs: mean(medians)! }))))
}

function spreadOf(model: string, c: BenchmarkCase, cards: CardSpread['cards']): CardSpread {
  const sorted = [...cards].sort((a, b) => a.medianNs - b.medianNs)
  const medians = sorted.map(({ medianNs }) => medianNs)
  const meanNs = mean(medians)!
  const deviationNs = standardDeviation(medians)!
  return { model, case: c, cards: sorted, meanNs, ciNs: (studentQuantile(0.025, medians.length - 1) * deviationNs) / Math.sqrt(medians.length), deviation: deviationNs / meanNs, range: medians.at(-1)! / medians[0]! - 1 }
}
