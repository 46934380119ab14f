import { COMMANDS, type Command, type CommandId } from '@core/commands'
import { listen } from '../lib/api'
import { matches } from './accelerator'
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
