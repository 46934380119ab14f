import { onBeforeUnmount, onMounted, shallowReactive } from 'vue'
import { COMMANDS, type CommandId } from '@core/commands'

interface Handler {
  run: () => unknown
  enabled: () => boolean
}

/** Handlers by command; the last one registered answers, so that a table or dialog in front takes over. */
const handlers = shallowReactive(new Map<CommandId, readonly Handler[]>())
const ids = new Set<string>(COMMANDS.map((command) => command.id))

export const isCommand = (id: string): id is CommandId => ids.has(id)

/** Registers what a command does; the returned function takes it back. */
export function provideCommand(id: CommandId, run: () => unknown, enabled: () => boolean = () => true): () => void {
  const handler = { run, enabled }
  handlers.set(id, [...(handlers.get(id) ?? []), handler])
  return () => handlers.set(id, (handlers.get(id) ?? []).filter((other) => other !== handler))
}

/** The same for as long as a component is mounted. */
export function useCommand(id: CommandId, run: () => unknown, enabled?: () => boolean): void {
  let remove: (() => void) | undefined
  onMounted(() => (remove = provideCommand(id, run, enabled)))
  onBeforeUnmount(() => remove?.())
}

/** Whether the command can be used where the user is now. */
export const canRun = (id: CommandId): boolean => handlers.get(id)?.at(-1)?.enabled() ?? false

/** Runs a command; false when nothing answers to it here. */
export function runCommand(id: CommandId): boolean {
  const handler = handlers.get(id)?.at(-1)
  if (!handler?.enabled()) return false
  handler.run()
  return true
}
