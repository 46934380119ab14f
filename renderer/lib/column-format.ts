/** Scales a column can be shown in: the unit's label and how many base units it is. */
export interface Unit {
  label: string
  scale: number
}

/** What a number means; decides its units. Base units: ns, bytes, bytes/ns (= GB/s), FLOP/ns (= GFLOP/s). */
export type Quantity = 'time' | 'bytes' | 'bandwidth' | 'flop-rate' | 'percent' | 'count' | 'megahertz' | 'celsius' | 'ratio' | 'scientific'

const UNITS: Readonly<Record<Quantity, readonly Unit[]>> = {
  time: [{ label: 'ns', scale: 1 }, { label: 'µs', scale: 1e3 }, { label: 'ms', scale: 1e6 }, { label: 's', scale: 1e9 }],
  bytes: [{ label: 'B', scale: 1 }, { label: 'KiB', scale: 2 ** 10 }, { label: 'MiB', scale: 2 ** 20 }, { label: 'GiB', scale: 2 ** 30 }],
  bandwidth: [{ label: 'MB/s', scale: 1e-3 }, { label: 'GB/s', scale: 1 }, { label: 'TB/s', scale: 1e3 }],
  'flop-rate': [{ label: 'MFLOP/s', scale: 1e-3 }, { label: 'GFLOP/s', scale: 1 }, { label: 'TFLOP/s', scale: 1e3 }],
  percent: [{ label: '%', scale: 0.01 }],
  count: [{ label: '', scale: 1 }],
  megahertz: [{ label: 'MHz', scale: 1 }],
  celsius: [{ label: '°C', scale: 1 }],
  ratio: [{ label: '', scale: 1 }],
  scientific: [{ label: '', scale: 1 }],
}

/** The largest unit in which `value` (in base units) is at least 1; the smallest one where none is. */
export function unitFor(quantity: Quantity, value: number): Unit {
  const units = UNITS[quantity]
  return [...units].reverse().find((unit) => Math.abs(value) >= unit.scale) ?? units[0]!
}

/** Median of the values that are there, from at most about 2,000 evenly spread ones; undefined when there is none. */
export function typicalValue(count: number, at: (i: number) => number): number | undefined {
  const step = Math.max(1, Math.floor(count / 2000))
  const found: number[] = []
  for (let i = 0; i < count; i += step) {
    const value = at(i)
    if (Number.isFinite(value)) found.push(value)
  }
  found.sort((a, b) => a - b)
  return found[found.length >> 1]
}

/** Digits after the point in the widest number of a column. */
const PLACES: Readonly<Record<Quantity, number>> = {
  time: 3, bytes: 2, bandwidth: 2, 'flop-rate': 2, percent: 1, count: 0, megahertz: 0, celsius: 0, ratio: 3, scientific: 0,
}

function plainText(value: number, places: number): string {
  const size = Math.abs(value)
  if (size !== 0 && size < 0.5 * 10 ** -places) return value.toExponential(1)
  // Three to four significant digits, never more places than the column has.
  const wanted = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3
  return value.toFixed(Math.min(places, wanted))
}

/** A number in `unit`, without padding: for details, copies and tooltips. */
export function numberText(value: number, quantity: Quantity, unit: Unit): string {
  if (quantity === 'scientific') return value === 0 ? '0' : value.toExponential(1)
  return plainText(value / unit.scale, PLACES[quantity])
}

/** As `numberText`, followed by invisible digits so that right-aligned numbers meet at the decimal point. */
export function alignedText(value: number, quantity: Quantity, unit: Unit): { text: string; pad: string } {
  const text = numberText(value, quantity, unit)
  const places = PLACES[quantity]
  if (places === 0 || text.includes('e')) return { text, pad: '' }
  const point = text.indexOf('.')
  const has = point < 0 ? 0 : text.length - point - 1
  return { text, pad: (point < 0 ? '.' : '') + '0'.repeat(places - has) }
}

/** A single value with the unit that suits it: `36.80 µs`, `1.5 GiB`. */
export function quantityText(value: number | undefined, quantity: Quantity): string {
  if (value === undefined || !Number.isFinite(value)) return '–'
  const unit = unitFor(quantity, value)
  return `${numberText(value, quantity, unit)}${unit.label ? ` ${unit.label}` : ''}`
}
