/** What decides about it; see permission.mjs. */
export interface Here {
  setup?: string | undefined
  root: boolean
  ci: boolean
  terminal: boolean
  hasSudo(): boolean
  sudoWorks(): boolean
  ask(question: string): Promise<boolean>
  say(line: string): void
}

/** What goes before each of the commands; undefined where they must not be run. */
export function createPermission(here?: Here): (commands: readonly (readonly string[])[]) => Promise<string[] | undefined>
