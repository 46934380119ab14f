import { sortByKeys } from '../../lib/radix-order'
import type { Unit } from '@core/units'
import type { Efficiency } from '../../lib/efficiency'
import type { RowSource } from '../../stores/row-source'
import { statusWord } from '@core/result'
import { findColumn, type Column, shapeText, variantText } from './columns'
import { parseNumberFilter, parseTextFilter } from './filter'

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
