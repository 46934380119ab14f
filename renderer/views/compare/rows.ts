import { computed, ref, type ComputedRef, type Ref } from 'vue'
import type { CompareAxis, Comparison } from '@core/compare'
import { caseTexts } from './verdict'

export type CompareRow = Comparison['rows'][number]
export type RowOrder = 'measured' | 'slower' | 'faster'

/** The rows of a comparison as filtered and ordered by the user. */
export function useCompareRows(comparison: () => Comparison, axis: () => CompareAxis | undefined): { rows: ComputedRef<CompareRow[]>; search: Ref<string>; order: Ref<RowOrder>; onlyAmbiguous: Ref<boolean> } {
  const search = ref('')
  const order = ref<RowOrder>('measured')
  const onlyAmbiguous = ref(false)

  const text = (row: CompareRow) => {
    const { what, who } = caseTexts(row.case, axis())
    return `${what} ${who} ${row.cells.map((cell) => cell?.verdict ?? '').join(' ')}`.toLowerCase()
  }
  const rows = computed(() => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
    const found = comparison().rows.filter((row) => (!onlyAmbiguous.value || row.cells.some((cell) => cell?.verdict === 'ambiguous')) && (!words.length || words.every((word) => text(row).includes(word))))
    if (order.value === 'measured') return found
    const sign = order.value === 'slower' ? -1 : 1
    const extreme = (row: CompareRow) => {
      const ratios = row.cells.flatMap((cell) => (cell?.ratio === undefined ? [] : [cell.ratio]))
      return ratios.length ? (sign < 0 ? Math.max(...ratios) : Math.min(...ratios)) : 1
    }
    return found.sort((a, b) => sign * (extreme(a) - extreme(b)))
  })
  return { rows, search, order, onlyAmbiguous }
}
