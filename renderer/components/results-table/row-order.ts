import { statusWord } from '@core/result'
import type { Unit } from '@core/units'
import type { Efficiency, Column } from './columns/column'
import type { RowSource } from '../../stores/rows/result-rows'
import { shapeText, variantText } from '@core/case-words'
import { findColumn } from './columns/columns'

export interface Sort {
  column: string
  descending: boolean
}

export interface Query {
  /** Words that must all stand somewhere in the row. */
  quick: string
  /** Column id to filter text; see filter.ts. Number filters are in the unit the column shows. */
  filters: Readonly<Record<string, string>>
  /** Most important first. */
  sorts: readonly Sort[]
}

const collator = new Intl.Collator('en', { numeric: true })

/** One sortable number per row; words become their rank among the distinct words of the column. */
export function sortKeys(column: Column, rows: RowSource, efficiency: Efficiency): Float64Array {
  const keys = new Float64Array(rows.length)
  if (column.kind === 'number') {
    for (let i = 0; i < keys.length; i++) keys[i] = column.value(rows, i, efficiency)
    return keys
  }
  if (column.rank) {
    for (let i = 0; i < keys.length; i++) keys[i] = column.rank(rows, i, efficiency)
    return keys
  }
  const texts: string[] = []
  for (let i = 0; i < keys.length; i++) texts.push(column.text(rows, i, efficiency))
  const ranks = new Map([...new Set(texts)].sort((a, b) => collator.compare(a, b)).map((text, rank) => [text, rank]))
  for (let i = 0; i < keys.length; i++) keys[i] = texts[i] === '' ? NaN : ranks.get(texts[i]!)!
  return keys
}

/** Texts the quick filter looks through, kept per case object because they never change. */
const haystacks = new WeakMap<object, string>()

function haystack(rows: RowSource, i: number): string {
  const c = rows.case(i)
  let text = haystacks.get(c)
  if (text === undefined) {
    text = `${c.op} ${variantText(c)} ${shapeText(c)} ${c.dtype} ${c.backend} ${c.impl} ${c.device} ${c.mode}`.toLowerCase()
    haystacks.set(c, text)
  }
  return text
}

type Test = (i: number) => boolean

function tests(rows: RowSource, query: Query, efficiency: Efficiency, unitOf: (column: string) => Unit): Test[] {
  const found: Test[] = []
  for (const [id, text] of Object.entries(query.filters)) {
    const column = findColumn(id)
    if (column?.kind === 'text') {
      const parsed = parseTextFilter(text)
      if (parsed.ok && parsed.test) {
        const { test } = parsed
        found.push((i) => test(column.text(rows, i, efficiency)))
      }
    } else if (column) {
      const parsed = parseNumberFilter(text)
      if (parsed.ok && parsed.test) {
        const { test } = parsed
        const { size } = unitOf(id)
        found.push((i) => test(column.value(rows, i, efficiency) / size))
      }
    }
  }
  const words = query.quick.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length) {
    found.push((i) => {
      const text = haystack(rows, i)
      return words.every((word) => text.includes(word) || statusWord(rows.status(i)).includes(word))
    })
  }
  return found
}

/** Indices of the rows that pass the filters, in the order of the sorts; the order measured where there is none. */
export function rowOrder(rows: RowSource, query: Query, efficiency: Efficiency, unitOf: (column: string) => Unit): Uint32Array {
  const all = tests(rows, query, efficiency, unitOf)
  const order = new Uint32Array(rows.length)
  let kept = 0
  for (let i = 0; i < rows.length; i++) if (all.every((test) => test(i))) order[kept++] = i
  const result = kept === rows.length ? order : order.slice(0, kept)
  for (const sort of [...query.sorts].reverse()) {
    const column = findColumn(sort.column)
    if (column) sortByKeys(result, sortKeys(column, rows, efficiency), sort.descending)
  }
  return result
}

/** Whether a value passes; `undefined` stands for an empty filter. */
export type Parsed<T> = { ok: true; test: ((value: T) => boolean) | undefined } | { ok: false; message: string }

/** Words of a column filter: alternatives separated by commas, `=` in front for the whole word, `!` for all but it. */
export function parseTextFilter(text: string): Parsed<string> {
  const parts = text.toLowerCase().split(',').map((part) => part.trim()).filter(Boolean)
  if (!parts.length) return { ok: true, test: undefined }
  const wanted = parts.filter((part) => !part.startsWith('!'))
  const barred = parts.filter((part) => part.startsWith('!')).map((part) => part.slice(1).trim()).filter(Boolean)
  const meets = (value: string, part: string) => (part.startsWith('=') ? value === part.slice(1).trim() : value.includes(part))
  return {
    ok: true,
    test: (value) => {
      const lower = value.toLowerCase()
      return (!wanted.length || wanted.some((part) => meets(lower, part))) && !barred.some((part) => meets(lower, part))
    },
  }
}

const NUMBER = String.raw`[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?`
const COMPARISON = new RegExp(`^(<=|>=|<|>|=)?\\s*(${NUMBER})$`, 'i')
const RANGE = new RegExp(`^(${NUMBER})\\s*\\.\\.\\s*(${NUMBER})$`, 'i')

/** Bounds of a number column in the unit it shows: `> 10`, `<= 2.5`, `10..20`, `= 4`. A bare number means at least. */
export function parseNumberFilter(text: string): Parsed<number> {
  const trimmed = text.trim()
  if (!trimmed) return { ok: true, test: undefined }
  const range = RANGE.exec(trimmed)
  if (range) {
    const [low, high] = [Number(range[1]), Number(range[2])]
    return { ok: true, test: (value) => value >= low && value <= high }
  }
  const match = COMPARISON.exec(trimmed)
  if (!match) return { ok: false, message: 'Expected a bound such as > 10, <= 2.5 or 10..20' }
  const bound = Number(match[2])
  switch (match[1]) {
    case '<': return { ok: true, test: (value) => value < bound }
    case '<=': return { ok: true, test: (value) => value <= bound }
    case '>': return { ok: true, test: (value) => value > bound }
    case '=': return { ok: true, test: (value) => Math.abs(value - bound) <= Math.abs(bound) * 0.005 }
    default: return { ok: true, test: (value) => value >= bound }
  }
}

const BITS = 16
const BUCKETS = 1 << BITS

/**
 * Order-preserving 64-bit image of a double as two uint32: flip all bits of negatives and the sign bit of the rest
 * (M. Herf, "Radix tricks", 2001). NaN, which stands for "no value", is placed after everything in both directions.
 */
function images(keys: Float64Array, descending: boolean): { high: Uint32Array; low: Uint32Array } {
  const bits = new Uint32Array(keys.buffer, keys.byteOffset, keys.length * 2)
  const high = new Uint32Array(keys.length)
  const low = new Uint32Array(keys.length)
  for (let i = 0; i < keys.length; i++) {
    if (Number.isNaN(keys[i])) {
      high[i] = low[i] = 0xffffffff
      continue
    }
    const h = bits[2 * i + 1]!
    const negative = (h & 0x80000000) !== 0 ? -1 : 0
    const flip = descending ? ~negative : negative
    high[i] = (h ^ (negative ? 0 : 0x80000000) ^ (negative ? 0xffffffff : 0) ^ (descending ? 0xffffffff : 0)) >>> 0
    low[i] = (bits[2 * i]! ^ flip) >>> 0
  }
  return { high, low }
}

/**
 * Sorts row indices in place by `keys[row]`, stably, so that sorting by the least important column first gives a
 * multi-column order. Least-significant-digit radix sort: 100,000 rows take a few milliseconds.
 */
export function sortByKeys(order: Uint32Array, keys: Float64Array, descending: boolean): void {
  const { high, low } = images(keys, descending)
  let from = order
  let to: Uint32Array = new Uint32Array(order.length)
  const counts = new Uint32Array(BUCKETS)
  for (let pass = 0; pass < 4; pass++) {
    const words = pass < 2 ? low : high
    const shift = (pass & 1) * BITS
    counts.fill(0)
    for (let i = 0; i < from.length; i++) counts[(words[from[i]!]! >>> shift) & (BUCKETS - 1)]!++
    // Every row has the same digit: nothing to move.
    if (from.length === 0 || counts[(words[from[0]!]! >>> shift) & (BUCKETS - 1)] === from.length) continue
    let sum = 0
    for (let b = 0; b < BUCKETS; b++) {
      const n = counts[b]!
      counts[b] = sum
      sum += n
    }
    for (let i = 0; i < from.length; i++) {
      const digit = (words[from[i]!]! >>> shift) & (BUCKETS - 1)
      to[counts[digit]!++] = from[i]!
    }
    ;[from, to] = [to, from]
  }
  if (from !== order) order.set(from)
}
