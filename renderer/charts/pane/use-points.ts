import { useTimeoutFn } from '@vueuse/core'
import { computed, ref, shallowRef, watch, type ComputedRef } from 'vue'
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
  function redraw() {
    version.value = rows().version
    drawn.value = rows()
  }
  const later = useTimeoutFn(redraw, BUSY_DELAY_MS, { immediate: false })
  watch(
    [rows, () => rows().version],
    () => {
      // A run is followed at a steady pace; a session that is being fetched is drawn once.
      if (later.isPending.value && live()) return
      later.stop()
      if (rows().length < FEW_ROWS) redraw()
      else later.start()
    },
    { flush: 'post' },
  )
  return computed(() => (version.value >= 0 ? pointsOf(drawn.value) : []))
}
