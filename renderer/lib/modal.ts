import { onBeforeUnmount, watch } from 'vue'

/**
 * Makes the page behind a modal dialog inert while it is open. The dialog library only hides the page from assistive
 * technology; an element that is hidden but can take the focus is an error (WCAG 4.1.2).
 */
export function inertWhile(open: () => boolean): void {
  const set = (on: boolean) => document.getElementById('app')?.toggleAttribute('inert', on)
  // At once: the focus goes back into the page as the dialog leaves it.
  watch(open, set, { immediate: true, flush: 'sync' })
  onBeforeUnmount(() => open() && set(false))
}
