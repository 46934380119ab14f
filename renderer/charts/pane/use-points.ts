import { useTimeoutFn } from '@vueuse/core'
import { computed, ref, shallowRef, watch, shallowReactive, type ComputedRef } from 'vue'
import type { Result } from '@core/result'
import { call } from '../../lib/api'
import type { RowSource } from '../../stores/rows/result-rows'
import { pointsOf, type ChartPoint } from '../data/points'
import { takePoints } from '../data/take-points'

/** Up to this many rows the charts follow at once; with more they wait until rows have stopped coming in for a moment. */
const FEW_ROWS = 400
const BUSY_DELAY_MS = 200

/** The points of a row source as of the last time charts were drawn: they come after the table, which is what a user waits for. */
export function usePoints(rows: () => RowSource, live: () => boolean): ComputedRef<readonly ChartPoint[]> {
  const drawn = shallowRef(rows())
  const version = ref(rows().version)
  function redraw() {
    version.value = rows().version
    drawn.value = rows()
  }
  /** Of a large session after its rows were taken in: more of them, or another session, start it anew. */
  async function redrawLater(): Promise<void> {
    const [source, length] = [rows(), rows().length]
    await takePoints(source)
    if (source === rows() && length === source.length) redraw()
  }
  const later = useTimeoutFn(redrawLater, BUSY_DELAY_MS, { immediate: false })
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

/** Results with samples are large; the last few are kept. */
const KEPT = 24

/** The full results of these ids, read as they are asked for; those that could not be read are left out, and `problem` says why. */
export function useResults(ids: () => readonly string[]) {
  const known = shallowReactive(new Map<string, Result>())
  const asked = new Set<string>()
  const problem = ref<string>()

  async function read(id: string): Promise<void> {
    asked.add(id)
    try {
      known.set(id, await call('sessions:result', { resultId: id }))
      problem.value = undefined
      for (const old of known.keys()) {
        if (known.size <= KEPT) break
        if (!ids().includes(old)) known.delete(old)
      }
    } catch (error) {
      problem.value = error instanceof Error ? error.message : String(error)
    } finally {
      asked.delete(id)
    }
  }

  watch(() => ids().join(), () => ids().forEach((id) => !known.has(id) && !asked.has(id) && void read(id)), { immediate: true })
  const results = computed(() => ids().flatMap((id) => known.get(id) ?? []))
  return { results, reading: computed(() => problem.value === undefined && results.value.length < ids().length), problem }
}
