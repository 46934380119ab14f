/** Physical keys of the punctuation used in accelerators, because Shift changes what they type. */
const CODES: Readonly<Record<string, string>> = { '.': 'Period', ',': 'Comma', '/': 'Slash' }

export type KeyPress = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>

/** Whether a key press is this accelerator (Electron's notation). CmdOrCtrl is ⌘ on a Mac and Ctrl elsewhere. */
export function matches(accelerator: string, event: KeyPress, mac: boolean): boolean {
  const parts = accelerator.split('+')
  const key = parts.pop()!
  const command = parts.includes('CmdOrCtrl')
  const pressed = mac ? event.metaKey : event.ctrlKey
  const other = mac ? event.ctrlKey : event.metaKey
  if (pressed !== command || other || event.shiftKey !== parts.includes('Shift') || event.altKey !== parts.includes('Alt')) return false
  return event.key.toLowerCase() === key.toLowerCase() || (CODES[key] !== undefined && event.code === CODES[key])
}

/** The keys as people read them: `Ctrl`, `Shift`, `S`. */
export function keysOf(accelerator: string, mac: boolean): string[] {
  return accelerator.split('+').map((part) => (part === 'CmdOrCtrl' ? (mac ? '⌘' : 'Ctrl') : part === 'Shift' && mac ? '⇧' : part))
}
