import { spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline/promises'
import { say } from './steps.mjs'

const CHOICES = ['auto', 'ask', 'never']

/** Asks on the terminal; anything but yes is no. */
async function askOnTerminal(question) {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^\s*y(es)?\s*$/i.test(await lines.question(question))
  } catch {
    // The input has ended.
    return false
  } finally {
    lines.close()
  }
}

const here = () => ({
  setup: process.env.OPSCOPE_SETUP,
  root: process.getuid?.() === 0,
  ci: Boolean(process.env.CI),
  terminal: process.stdin.isTTY === true && process.stderr.isTTY === true,
  /** Whether there is sudo, and whether it asks for no password. */
  hasSudo: () => spawnSync('sudo', ['-V']).status === 0,
  sudoWorks: () => spawnSync('sudo', ['-n', 'true']).status === 0,
  ask: askOnTerminal,
  say,
})

/**
 * Who may run a program of the system's administrator here. OPSCOPE_SETUP=auto: root, or sudo that asks for no password.
 * ask: the user, who is shown the exact commands and is asked once, if there is a terminal. never: nobody. Without it:
 * ask where sudo is needed and there is a terminal outside CI, else auto.
 * @returns {(commands: readonly (readonly string[])[]) => Promise<string[] | undefined>} what goes before each of the
 *   commands; undefined where they must not be run
 */
export function createPermission({ setup, root, ci, terminal, hasSudo, sudoWorks, ask, say: tell } = here()) {
  if (setup !== undefined && setup !== '' && !CHOICES.includes(setup)) tell(`opscope: OPSCOPE_SETUP is one of ${CHOICES.join(', ')}; "${setup}" is taken as never`)
  const choice = !setup ? (root || ci || !terminal ? 'auto' : 'ask') : CHOICES.includes(setup) ? setup : 'never'
  let answer
  return async (commands) => {
    if (choice === 'never') return undefined
    if (choice === 'auto') return root ? [] : hasSudo() && sudoWorks() ? ['sudo', '-n'] : undefined
    if (!terminal || (!root && !hasSudo())) return undefined
    const before = root ? [] : ['sudo']
    answer ??= await ask(`Opscope needs system packages. It would run:\n${commands.map((command) => `  ${[...before, ...command].join(' ')}\n`).join('')}Run this now? [y/N] `)
    return answer ? before : undefined
  }
}
