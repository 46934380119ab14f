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

/** Puts a PNG data URL on the clipboard as a picture. Throws when the system refuses. */
export async function copyPicture(dataUrl: string): Promise<void> {
  const bytes = Uint8Array.from(atob(dataUrl.slice(dataUrl.indexOf(',') + 1)), (char) => char.charCodeAt(0))
  await navigator.clipboard.write([new ClipboardItem({ 'image/png': new Blob([bytes], { type: 'image/png' }) })])
}
