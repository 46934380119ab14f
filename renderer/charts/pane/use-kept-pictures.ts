import { computed, shallowReactive, watch, type ComputedRef } from 'vue'
import type { ChartContext, ChartUnit, Picture } from '../unit'

/** A chart and the picture that it was last drawn with. */
export interface KeptPicture {
  chart: ChartUnit
  picture: Picture
}

interface Wanted {
  chart: ChartUnit
  context: ChartContext
  /** What the context is made of, each part identical (===) while it is unchanged: the same parts give the same picture. */
  from: readonly unknown[]
}

/**
 * The picture of the chart on show, and those of the charts looked at before, which stay drawn behind it: going back to one
 * then costs no drawing. Those behind are dropped when `place` changes, because each would be laid out anew.
 */
export function useKeptPictures(wanted: () => Wanted, place: () => unknown): { picture: ComputedRef<Picture>; kept: ReadonlyMap<string, KeptPicture> } {
  const made = new Map<string, { from: readonly unknown[]; picture: Picture }>()
  const picture = computed(() => {
    const { chart, context, from } = wanted()
    const had = made.get(chart.id)
    if (had && had.from.length === from.length && had.from.every((part, i) => part === from[i])) return had.picture
    const drawn = chart.draw(context)
    made.set(chart.id, { from, picture: drawn })
    return drawn
  })
  const kept = shallowReactive(new Map<string, KeptPicture>())
  watch(
    [() => wanted().chart, picture, place],
    ([chart, now, here], [before, , there]) => {
      // A chart that said why it is empty has nothing to keep.
      for (const [id, other] of kept) if (id !== chart.id && (here !== there || (other.chart === before && !other.picture.option))) kept.delete(id)
      kept.set(chart.id, { chart, picture: now })
    },
    { immediate: true },
  )
  return { picture, kept }
}
