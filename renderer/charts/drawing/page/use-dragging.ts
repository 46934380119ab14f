import { nextTick, ref, watch, type Ref } from 'vue'
import type { EChartsCoreOption } from 'echarts/core'

/** What dragging on a plot does: selects a part to enlarge, or moves what is enlarged. */
export type Dragging = 'zoom' | 'pan'

/** What the tools of a chart switch: what dragging does, whether the chart fills the window (Escape ends that), and whether its data stand in its place. */
export function useChartTools() {
  const dragging = ref<Dragging>('zoom')
  const filled = ref(false)
  const asTable = ref(false)
  function leaveFilled(event: KeyboardEvent): void {
    if (!filled.value) return
    filled.value = false
    event.stopPropagation()
  }
  return { dragging, filled, asTable, leaveFilled }
}

interface Dispatching {
  dispatchAction: (action: { type: string; [name: string]: unknown }) => void
}

const countOf = (axis: unknown) => (Array.isArray(axis) ? axis.length : axis === undefined ? 0 : 1)

/**
 * The option with what moves its axes: by drag while panning, and closer with the wheel and Ctrl in either case. Axes of one direction move
 * together, so that small multiples keep one scale. A chart whose rows stay says so by `yAxisIndex: 'none'` of its select-zoom.
 */
export function withPanning(option: EChartsCoreOption, dragging: Dragging): EChartsCoreOption {
  const select = (option['toolbox'] as { feature?: { dataZoom?: { yAxisIndex?: unknown } } } | undefined)?.feature?.dataZoom
  const moving = (id: string, axis: 'xAxis' | 'yAxis') => {
    const count = countOf(option[axis])
    if (count === 0 || (axis === 'yAxis' && select?.yAxisIndex === 'none')) return []
    return [{ id, type: 'inside', [`${axis}Index`]: Array.from({ length: count }, (_, i) => i), filterMode: 'none', zoomOnMouseWheel: 'ctrl', moveOnMouseWheel: false, moveOnMouseMove: dragging === 'pan' }]
  }
  return { ...option, dataZoom: [...moving('pan x', 'xAxis'), ...moving('pan y', 'yAxis')] }
}

/**
 * Lets dragging do what it is to do. The library draws everything for that, and a new chart would be drawn twice: `unarmed` says that it
 * is to wait with its first picture until then, which is before the next frame.
 */
export function useDragging(chart: Ref<Dispatching | undefined>, dragging: () => Dragging, off: () => boolean): { arm: () => Promise<void>; armNew: () => Promise<void>; unarmed: Readonly<Ref<boolean>> } {
  const unarmed = ref(false)
  async function arm(): Promise<void> {
    if (!off()) chart.value?.dispatchAction({ type: 'takeGlobalCursor', key: 'dataZoomSelect', dataZoomSelectActive: dragging() === 'zoom' })
  }
  /** Of a chart that is about to be made: it takes its option in the turn after the one in which it is mounted. */
  async function armNew(): Promise<void> {
    unarmed.value = !off()
    await nextTick()
    await nextTick()
    await arm()
    unarmed.value = false
  }
  watch(dragging, arm)
  return { arm, armNew, unarmed }
}
