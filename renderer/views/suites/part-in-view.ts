import { ref, type Ref } from 'vue'

/** Pixels below the upper edge at which a heading counts as read. */
const READ_PX = 60

/** How far a report is scrolled, in pixels. */
export interface Scrolled {
  top: number
  /** Of what is in sight. */
  height: number
  /** Of the whole report. */
  whole: number
}

/**
 * The part of a report that is read: the last one whose heading, `headings` pixels below the upper edge of what is in sight, has come up to a line. The line
 * stands near that edge and moves to the lower one over the last screen, so that parts too low to reach the upper edge have their turn.
 */
export function partInView(headings: readonly number[], { top, height, whole }: Scrolled): number {
  const below = whole - height - top
  const screen = Math.min(height, whole - height)
  const share = screen > 0 ? Math.min(1, Math.max(0, 1 - below / screen)) : 0
  return Math.max(0, headings.findLastIndex((y) => y <= READ_PX + share * (height - READ_PX)))
}

/** The part read in `body`, whose parts are `section[data-part]`: the one asked for by `show` until the user scrolls, then the one in sight. */
export function usePartInView(body: Ref<HTMLElement | undefined>) {
  const inView = ref(0)
  let asked = false
  const parts = () => [...(body.value?.querySelectorAll('section[data-part]') ?? [])]
  return {
    inView,
    /** Call when `body` has scrolled. */
    follow(): void {
      if (!body.value || asked) return
      const { top } = body.value.getBoundingClientRect()
      inView.value = partInView(parts().map((part) => part.getBoundingClientRect().top - top), { top: body.value.scrollTop, height: body.value.clientHeight, whole: body.value.scrollHeight })
    },
    /** Call when the user is about to scroll: by wheel, finger, key or bar. */
    release(): void {
      asked = false
    },
    show(i: number): void {
      asked = true
      inView.value = i
      parts()[i]?.scrollIntoView({ block: 'start' })
    },
  }
}
