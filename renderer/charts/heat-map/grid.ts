import { sizeOf } from '@core/analysis/size'
import { geometricMean } from '@core/stats/descriptive'
import { describe, varyingFacets, type Facet } from '../series'
import type { ChartPoint } from '../types'

/** A value of a result that a cell can show. */
export interface CellValue {
  point: ChartPoint
  value: number
}

export interface Cell extends CellValue {
  column: number
  row: number
  /** Results behind the cell: several where sizes share a column. */
  count: number
}

export interface Grid {
  /** Sizes in elements, ascending; the smallest of each column. */
  sizes: number[]
  rows: string[]
  cells: Cell[]
}

/** More columns than this are joined by powers of two. */
const MOST_COLUMNS = 20

/** Sizes against operations, with whatever else tells results apart in the name of the row. Of repeated cases the last stands; sizes that share a column have their geometric mean. */
export function gridOf(values: readonly CellValue[]): Grid {
  const placed = values.flatMap((one) => {
    const size = sizeOf(one.point.case)
    return size === undefined ? [] : [{ ...one, size }]
  })
  const all = [...new Set(placed.map((one) => one.size))].sort((a, b) => a - b)
  const column = all.length <= MOST_COLUMNS ? (size: number) => size : (size: number) => 2 ** Math.floor(Math.log2(size))
  const sizes = [...new Set(all.map(column))]
  const facets = placed.map((one) => describe(one.point.case).facets)
  const naming: readonly Facet[] = ['op', ...varyingFacets(facets).filter((facet) => facet !== 'op')]
  const rows = [...new Set(facets.map((f) => naming.map((facet) => f[facet]).filter(Boolean).join(' · ')))]
  const cells = new Map<string, Map<string, CellValue>>()
  placed.forEach((one, i) => {
    const key = `${sizes.indexOf(column(one.size))} ${rows.indexOf(naming.map((facet) => facets[i]![facet]).filter(Boolean).join(' · '))}`
    cells.set(key, (cells.get(key) ?? new Map<string, CellValue>()).set(describe(one.point.case).id, one))
  })
  return {
    sizes,
    rows,
    cells: [...cells].map(([key, own]) => {
      const [at, row] = key.split(' ').map(Number) as [number, number]
      const list = [...own.values()]
      const last = list.at(-1)!
      return { column: at, row, point: last.point, value: list.length > 1 ? (geometricMean(list.map((one) => one.value)) ?? last.value) : last.value, count: list.length }
    }),
  }
}
