import { chooseBandwidthUnit, chooseBytesPerJouleUnit, chooseByteUnit, chooseEnergyUnit, chooseFlopsPerJouleUnit, chooseFlopsUnit, chooseTimeUnit, formatIn, grouped, localNumber, localPoint, percentNumber, ratioNumber, splitDecimal, type Unit } from '@core/units'

/** What a number means; decides its units. Base units: ns, bytes, bytes/s, FLOP/s, J, W, FLOP/J, bytes/J, and 1 for the rest. */
export type Quantity = 'time' | 'bytes' | 'bandwidth' | 'flop-rate' | 'percent' | 'half-width' | 'count' | 'megahertz' | 'celsius' | 'speedup' | 'ratio' | 'scientific' | 'energy' | 'watt' | 'flops-per-joule' | 'bytes-per-joule'

interface Style {
  /** Of the median of the column; one unit where it is the same whatever the median. */
  unit: Unit | ((typical: number | undefined) => Unit)
  /** Significant digits wanted, and the most digits after the point in the column. */
  digits: number
  places: number
  /** The number as it is written outside of columns too, where it does not depend on the unit of the column. */
  text?(value: number): string
}

const fixed = (name: string, size = 1): Unit => ({ name, size })

const STYLES: Readonly<Record<Quantity, Style>> = {
  time: { unit: chooseTimeUnit, digits: 4, places: 3 },
  bytes: { unit: chooseByteUnit, digits: 3, places: 2 },
  bandwidth: { unit: chooseBandwidthUnit, digits: 3, places: 3 },
  'flop-rate': { unit: chooseFlopsUnit, digits: 3, places: 3 },
  percent: { unit: fixed('%', 0.01), digits: 3, places: 2, text: percentNumber },
  'half-width': { unit: fixed('%', 0.01), digits: 3, places: 2, text: (share) => percentNumber(Math.max(share, Number.MIN_VALUE)) },
  count: { unit: fixed(''), digits: 1, places: 0 },
  megahertz: { unit: fixed('MHz'), digits: 1, places: 0 },
  celsius: { unit: fixed('°C'), digits: 1, places: 0 },
  speedup: { unit: fixed(''), digits: 4, places: 4, text: ratioNumber },
  ratio: { unit: fixed(''), digits: 3, places: 2 },
  energy: { unit: chooseEnergyUnit, digits: 4, places: 3 },
  watt: { unit: fixed('W'), digits: 3, places: 1 },
  'flops-per-joule': { unit: chooseFlopsPerJouleUnit, digits: 3, places: 3 },
  'bytes-per-joule': { unit: chooseBytesPerJouleUnit, digits: 3, places: 3 },
  scientific: { unit: fixed(''), digits: 2, places: 0 },
}

/** The unit of a column whose median is `typical` (in base units). */
export function unitFor(quantity: Quantity, typical: number | undefined): Unit {
  const { unit } = STYLES[quantity]
  return typeof unit === 'function' ? unit(typical) : unit
}

/** Whether the unit of a column is the same whatever its median: looking for that takes a look at its rows. */
export const hasOneUnit = (quantity: Quantity): boolean => typeof STYLES[quantity].unit !== 'function'

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

/** A number in `unit`, without its name. */
export function numberText(value: number, quantity: Quantity, unit: Unit): string {
  if (quantity === 'scientific') return value === 0 ? '0' : localNumber(value.toExponential(1))
  const { digits, places, text: whole } = STYLES[quantity]
  if (whole) return whole(value)
  const scaled = value / unit.size
  // Small numbers give up digits rather than widen the column.
  const leading = scaled === 0 ? 0 : Math.floor(Math.log10(Math.abs(scaled)))
  const text = scaled.toFixed(Math.max(0, Math.min(places, digits - 1 - leading)))
  return Number(text) === 0 && scaled !== 0 ? formatIn(value, unit, 1) : grouped(text)
}

/** As `numberText`, with the invisible digits to follow it so that right-aligned numbers meet at the decimal point. */
export function alignedText(value: number, quantity: Quantity, unit: Unit): { text: string; pad: string } {
  const text = numberText(value, quantity, unit)
  const { places } = STYLES[quantity]
  if (places === 0) return { text, pad: '' }
  const { fraction } = splitDecimal(text)
  return { text, pad: (fraction ? '' : localPoint()) + '0'.repeat(Math.max(0, places - Math.max(0, fraction.length - 1))) }
}
