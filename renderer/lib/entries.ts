/** Moves the focus up and down among the elements with `data-entry` in a list: a handler of its key presses. */
export function moveEntry(event: KeyboardEvent): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  const entries = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[data-entry]')]
  const at = entries.indexOf(document.activeElement as HTMLElement)
  entries[event.key === 'ArrowDown' ? Math.min(at + 1, entries.length - 1) : Math.max(at - 1, 0)]?.focus()
  event.preventDefault()
}
