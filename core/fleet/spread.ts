import { z } from 'zod'
import { benchmarkCaseSchema, caseId, type BenchmarkCase } from '../case'
import { caseText } from '../case-words'
import { formatHalfWidth, formatPercent, formatTime } from '../units'
import type { Row } from '../session/rows'
import type { Device } from '../backend'
import { mean, standardDeviation } from '../stats/descriptive'
import { studentQuantile } from '../stats/significance'
import { machineOf } from './machines'
import { placeOf } from './place'

/** How much the cards of one model differ in one case. */
export const cardSpreadSchema = z.object({
  /** Name of the devices. */
  model: z.string(),
  /** The case as each machine calls it. */
  case: benchmarkCaseSchema,
  /** Median of each card, in ns, fastest first. */
  cards: z.array(z.object({ machine: z.string(), device: z.string(), medianNs: z.number() })),
  /** Mean of the cards' medians, and half of its 95 % interval over the cards (Student's t), in ns. */
  meanNs: z.number(),
  ciNs: z.number(),
  /** Standard deviation over the cards, as a share of the mean. */
  deviation: z.number(),
  /** How much longer the slowest card takes than the fastest: 0.05 is 5 %. */
  range: z.number(),
})
export type CardSpread = z.infer<typeof cardSpreadSchema>

/** A table of them: titles, whether figures stand in the column, and its cells in words. */
export const SPREAD_COLUMNS: readonly { title: string; numeric?: boolean; cell(spread: CardSpread): string }[] = [
  { title: 'case', cell: (s) => caseText(s.case) },
  { title: 'model', cell: (s) => s.model },
  { title: 'cards', numeric: true, cell: (s) => String(s.cards.length) },
  { title: 'mean', numeric: true, cell: (s) => formatTime(s.meanNs) },
  { title: '95 % CI over cards', numeric: true, cell: (s) => formatHalfWidth(s.ciNs / s.meanNs) },
  { title: 'std dev', numeric: true, cell: (s) => formatPercent(s.deviation) },
  { title: 'slowest to fastest', numeric: true, cell: (s) => `+${formatPercent(s.range)}` },
  { title: 'fastest', cell: (s) => s.cards[0]!.device },
  { title: 'slowest', cell: (s) => s.cards.at(-1)!.device },
]

/**
 * Cards of one model over the machines of a session: for each case that two cards or more have measured. The unit is the
 * card: its repeats count as their mean. Only results that passed count.
 */
export function cardSpread(rows: Iterable<Row>, devices: readonly Device[]): CardSpread[] {
  const known = new Map(devices.map((device) => [`${device.backend} ${device.id}`, device]))
  const groups = new Map<string, { model: string; case: BenchmarkCase; byCard: Map<string, { machine: string; device: string; medians: number[] }> }>()
  for (const row of rows) {
    const device = known.get(`${row.case.backend} ${row.case.device}`)
    if (row.status !== 'ok' || row.medianNs === undefined || row.medianNs === null || !device) continue
    const model = device.name
    // Several cards of one machine are cards, too: the ordinal is no part of the case.
    const local = { ...row.case, device: placeOf(row.case.device).device.replace(/:\d+$/, '') }
    const key = `${model} ${caseId(local)}`
    const group = groups.get(key) ?? { model, case: local, byCard: new Map() }
    groups.set(key, group)
    // One card may be reached by two names, of two remote machines or containers of one host.
    const serial = device.facts.find(({ name }) => name === 'UUID')?.value ?? row.case.device
    const card = group.byCard.get(serial) ?? { machine: machineOf(row.case), device: row.case.device, medians: [] }
    group.byCard.set(serial, card)
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
