import { getCurrentInstance, onBeforeUnmount, onMounted, watch } from 'vue'

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

/** In a panel that opens beside other things: when it closes with the focus in it, the focus goes back to where it was before, if that is still there. */
export function useReturnFocus(): void {
  const instance = getCurrentInstance()
  let before: Element | null = null
  onMounted(() => (before = document.activeElement))
  onBeforeUnmount(() => {
    const panel = instance?.proxy?.$el as Node | undefined
    if (before instanceof HTMLElement && before !== document.body && before.isConnected && panel?.contains(document.activeElement)) before.focus()
  })
}

/** In a popover, keys belong to what is in it and run no command of the app; Escape still closes it. A handler of its key presses. */
export function keepKeys(event: KeyboardEvent): void {
  if (event.key !== 'Escape') event.stopPropagation()
}

/** Moves the focus up and down among the elements with `data-entry` in a list: a handler of its key presses. */
export function moveEntry(event: KeyboardEvent): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  const entries = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[data-entry]')]
  const at = entries.indexOf(document.activeElement as HTMLElement)
  entries[event.key === 'ArrowDown' ? Math.min(at + 1, entries.length - 1) : Math.max(at - 1, 0)]?.focus()
  event.preventDefault()
}
