import { computed, onBeforeUnmount, ref, shallowRef, watch, type ComputedRef } from 'vue'
import type { RowSource } from '../../stores/row-source'
import { pointsOf } from '../points'
import type { ChartPoint } from '../types'

/** Up to this many rows the charts follow at once; with more they wait until rows have stopped coming in for a moment. */
const FEW_ROWS = 400
const BUSY_DELAY_MS = 200

/** The points of a row source as of the last time charts were drawn: they come after the table, which is what a user waits for. */
export function usePoints(rows: () => RowSource, live: () => boolean): ComputedRef<ChartPoint[]> {
  const drawn = shallowRef(rows())
  const version = ref(rows().version)
  let due: ReturnType<typeof setTimeout> | undefined
  function redraw() {
    due = undefined
    version.value = rows().version
    drawn.value = rows()
  }
  watch(
    [rows, () => rows().version],
    () => {
      // A run is followed at a steady pace; a session that is being fetched is drawn once.
      if (due !== undefined && live()) return
      clearTimeout(due)
      if (rows().length < FEW_ROWS) redraw()
      else due = setTimeout(redraw, BUSY_DELAY_MS)
    },
    { flush: 'post' },
  )
  onBeforeUnmount(() => clearTimeout(due))
  return computed(() => (version.value >= 0 ? pointsOf(drawn.value) : []))
}
