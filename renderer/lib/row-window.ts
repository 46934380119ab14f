import { useVirtualizer } from '@tanstack/vue-virtual'
import { computed, onMounted, ref, watch, type Ref } from 'vue'

/** Rows kept ready above and below the visible ones, so that a fast scroll shows no gaps. */
const SPARE_ROWS = 8

/**
 * Which rows of equal height are visible in a scrolling element, below a head that stays in view. Returns the indices to
 * draw and what the keyboard needs to move through them.
 */
export function useRowWindow(scroller: Ref<HTMLElement | null>, count: () => number, rowHeight: () => number, headHeight: () => number) {
  /** The first frame has the rows that can be seen, and nothing else to wait for. */
  const spare = ref(0)
  onMounted(() => requestAnimationFrame(() => (spare.value = SPARE_ROWS)))
  const virtualizer = useVirtualizer(
    computed(() => ({
      count: count(),
      getScrollElement: () => scroller.value,
      estimateSize: () => rowHeight(),
      overscan: spare.value,
      // As high as it can be until it is measured.
      initialRect: { width: 0, height: window.innerHeight },
      scrollPaddingEnd: headHeight(),
    })),
  )
  // Another density: what was worked out for the rows is out of date.
  watch(rowHeight, () => virtualizer.value.measure())
  const height = () => virtualizer.value.scrollRect?.height ?? window.innerHeight

  /** Indices to draw; index % size names the slot whose elements are reused. */
  const visible = computed(() => virtualizer.value.getVirtualIndexes())
  const size = computed(() => Math.ceil(height() / rowHeight()) + 2 * spare.value + 1)
  /** Rows that fit below the head. */
  const page = () => Math.max(1, Math.floor((height() - headHeight()) / rowHeight()) - 1)
  const reveal = (index: number) => virtualizer.value.scrollToIndex(index)
  const atEnd = () => virtualizer.value.isAtEnd(rowHeight())

  return { visible, size, page, reveal, atEnd }
}
