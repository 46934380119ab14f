import { plainText, readCsv } from '@core/csv'
import { chooseBandwidthUnit, chooseByteUnit, chooseEnergyUnit, chooseFlopsUnit, chooseTimeUnit, formatIn, formatInteger, type Unit } from '@core/units'

/** A column of a chart's data. */
export interface DataColumn {
  /** With its unit: `Median (µs)`. */
  title: string
  numeric: boolean
}

/** The data of a chart as it is read: numbers in one unit a column with the digits of the tooltips. The CSV has base units and every digit. */
export interface DataTable {
  columns: DataColumn[]
  rows: string[][]
  /** Rows there are, of which `rows` may be the first. */
  all: number
}

/** Significant digits, as in tooltips. */
const DIGITS = 3

/** What the name of a CSV column ends in, what that means, and the unit for a column of these values; columns of one quantity share a unit. */
const QUANTITIES: readonly { end: RegExp; alone: string; unitOf: (median: number | undefined) => Unit }[] = [
  { end: /bytes_per_second$/, alone: 'Bandwidth', unitOf: chooseBandwidthUnit },
  { end: /flop_per_second$/, alone: 'Rate', unitOf: chooseFlopsUnit },
  { end: /flop_per_byte$/, alone: 'Arithmetic intensity', unitOf: () => ({ name: 'FLOP/B', size: 1 }) },
  { end: /(^|_)ns$/, alone: 'Time', unitOf: chooseTimeUnit },
  { end: /_bytes$/, alone: 'Bytes', unitOf: chooseByteUnit },
  { end: /_js$/, alone: 'Energy-delay product', unitOf: () => ({ name: 'J s', size: 1 }) },
  { end: /_j$/, alone: 'Energy', unitOf: chooseEnergyUnit },
  { end: /_w$/, alone: 'Power', unitOf: () => ({ name: 'W', size: 1 }) },
  { end: /_mhz$/, alone: 'Clock', unitOf: () => ({ name: 'MHz', size: 1 }) },
  { end: /_elements$/, alone: 'Size', unitOf: () => ({ name: 'elements', size: 1 }) },
  { end: /^(speedup|gain|ideal|change_ratio)$/, alone: '', unitOf: () => ({ name: 'x', size: 1 }) },
  { end: /^(share|efficiency)$/, alone: '', unitOf: () => ({ name: '%', size: 0.01 }) },
]

const middle = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]

/** `ci_low_ns` -> `CI low`. */
function titleOf(name: string, quantity: (typeof QUANTITIES)[number] | undefined): string {
  const words = (quantity?.alone ? name.replace(quantity.end, '') : name).replaceAll('_', ' ').trim() || quantity?.alone || name
  return words.replace(/^./, (letter) => letter.toUpperCase()).replace(/\bci\b/gi, 'CI')
}

/** Reads a chart's CSV as a table of at most so many rows. */
export function chartTable(csv: string, most: number): DataTable {
  const read = readCsv(csv)
  const [head = [], ...all] = read.ok ? read.records.map(({ cells }) => cells.map(plainText)) : []
  const rows = all.slice(0, most)
  const columns = head.map((name, i) => {
    const values = rows.flatMap((row) => (row[i] ? [Number(row[i])] : []))
    const numeric = values.length > 0 && values.every((value) => Number.isFinite(value))
    return { name, values, numeric, quantity: numeric ? QUANTITIES.find(({ end }) => end.test(name)) : undefined }
  })
  const units = new Map(QUANTITIES.map((quantity) => [quantity, quantity.unitOf(middle(columns.filter((one) => one.quantity === quantity).flatMap(({ values }) => values)))]))
  const texts = columns.map(({ values, numeric, quantity }) => {
    const unit = quantity && units.get(quantity)!
    const whole = values.every((value) => Number.isSafeInteger(value))
    // Counts and sizes are exact.
    if (numeric && whole && (!unit || unit.size === 1 && unit.name === 'elements')) return (text: string) => (text === '' ? '' : formatInteger(Number(text)))
    return (text: string) => (numeric && text !== '' ? formatIn(Number(text), unit ?? { name: '', size: 1 }, DIGITS) : text)
  })
  return {
    columns: columns.map(({ name, numeric, quantity }) => ({ title: quantity ? `${titleOf(name, quantity)} (${units.get(quantity)!.name})` : titleOf(name, undefined), numeric })),
    rows: rows.map((row) => row.map((text, i) => texts[i]?.(text) ?? text)),
    all: all.length,
  }
}
