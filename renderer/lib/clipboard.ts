/** Puts text on the clipboard. Throws when the system refuses. */
export async function copyText(text: string): Promise<void> {
  let done = false
  const fill = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text)
    event.preventDefault()
    done = true
  }
  // A copy event needs no permission, unlike navigator.clipboard, but works only right after a key or click.
  document.addEventListener('copy', fill, { once: true })
  document.execCommand?.('copy')
  document.removeEventListener('copy', fill)
  if (!done) await navigator.clipboard.writeText(text)
}
