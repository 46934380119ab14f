import { useEventListener, useResizeObserver } from '@vueuse/core'
import { computed, ref, watch, type Ref } from 'vue'

/** Rows kept ready above and below the visible ones, so that a fast scroll shows no gaps. */
const SPARE_ROWS = 8

/**
 * Which rows of equal height are visible in a scrolling element, below a head that stays in view. Returns the indices to
 * draw and what the keyboard needs to move through them. Nothing is kept or worked out for each row: 100,000 rows cost what 40 do.
 */
export function useRowWindow(scroller: Ref<HTMLElement | null>, count: () => number, rowHeight: () => number, headHeight: () => number) {
  const top = ref(0)
  /** As high as it can be until it is measured: asking at once would make the browser lay out a table without rows first. */
  const height = ref(window.innerHeight)
  /** The first frame has the rows that can be seen, and nothing else to wait for. */
  const spare = ref(0)
  const read = () => (top.value = scroller.value?.scrollTop ?? 0)
  watch(scroller, read)
  useEventListener(scroller, 'scroll', read, { passive: true })
  useResizeObserver(scroller, () => {
    height.value = scroller.value?.clientHeight ?? height.value
    if (spare.value === 0) requestAnimationFrame(() => (spare.value = SPARE_ROWS))
  })

  const first = computed(() => Math.max(0, Math.min(Math.floor(top.value / rowHeight()) - spare.value, count() - 1)))
  const size = computed(() => Math.ceil(height.value / rowHeight()) + 2 * spare.value + 1)
  /** Indices to draw; index % size names the slot whose elements are reused. */
  const visible = computed(() => Array.from({ length: Math.max(0, Math.min(count() - first.value, size.value)) }, (_, i) => first.value + i))
  /** Rows that fit below the head. */
  const page = () => Math.max(1, Math.floor((height.value - headHeight()) / rowHeight()) - 1)

  function reveal(index: number): void {
    const element = scroller.value
    if (!element) return
    const from = index * rowHeight()
    const room = element.clientHeight - headHeight()
    if (from < element.scrollTop) element.scrollTop = from
    else if (from + rowHeight() > element.scrollTop + room) element.scrollTop = from + rowHeight() - room
    read()
  }

  const atEnd = () => {
    const element = scroller.value
    return !element || element.scrollTop + element.clientHeight >= element.scrollHeight - rowHeight()
  }

  return { visible, size, page, reveal, atEnd }
}
