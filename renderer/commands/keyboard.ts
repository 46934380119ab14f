import { COMMANDS, type Command, type CommandId } from '@core/commands'
import { listen } from '../lib/api'
import { isCommand, runCommand } from './registry'

/** Commands that mean something of their own inside a text field. */
const TEXT_COMMANDS: Partial<Record<CommandId, string>> = { 'table.copy': 'copy', 'table.select-all': 'selectAll', 'edit.undo': 'undo' }

const inText = () => {
  const element = document.activeElement
  return element instanceof HTMLTextAreaElement || (element instanceof HTMLInputElement && !['checkbox', 'radio', 'button'].includes(element.type))
}
const hasSelectedText = () => (document.getSelection()?.toString() ?? '') !== ''

/** Makes key presses and menu items run commands. Returns a function that ends it. */
export function connectCommands(mac: () => boolean): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented) return
    const command = COMMANDS.find((c: Command) => c.accelerator !== undefined && matches(c.accelerator, event, mac()))
    if (!command) return
    if (TEXT_COMMANDS[command.id] && (inText() || (command.id === 'table.copy' && hasSelectedText()))) return
    if (runCommand(command.id)) event.preventDefault()
  }
  window.addEventListener('keydown', onKey)
  const off = listen('menu:command', ({ command }) => {
    if (!isCommand(command)) return
    const text = TEXT_COMMANDS[command]
    if (text && (inText() || (command === 'table.copy' && hasSelectedText()))) document.execCommand(text)
    else runCommand(command)
  })
  return () => {
    window.removeEventListener('keydown', onKey)
    off()
  }
}

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
