import type { Device } from '@core/backend'
import { MAX_EXTRA_PYTHONS, type PythonSettings } from '@core/settings'
import type { Services } from '../../app/services'
import { checkPython, programAt } from '../../backends/python/interpreters/check'
import { homeFolder } from '../../paths'
import { RequestError, type Handlers } from '../answer'

const here = { home: homeFolder(), platform: process.platform }
const NOTHING: PythonSettings = { extra: [] }

/** Notes the programs of these devices as found by main. Those of another machine are none here. */
export function noteFound(found: Set<string>, devices: readonly Device[]): void {
  for (const { interpreter, host } of devices) if (interpreter && host === undefined) found.add(interpreter.path)
}

/**
 * Throws where settings would name a program that they did not name before and that main has not found itself: whatever
 * the settings name is run, so a page could run any program by naming it. A new one is named through `python:add`.
 */
export function checkNewPrograms(next: PythonSettings | undefined, now: PythonSettings = NOTHING, found: ReadonlySet<string> = new Set()): void {
  const extra = new Set(now.extra)
  const choices = new Set([...now.extra, ...(now.chosen ?? []), ...found])
  const strange = next && [...next.extra.filter((path) => !extra.has(path)), ...(next.chosen ?? []).filter((path) => !choices.has(path))][0]
  if (strange !== undefined) throw new RequestError('refused', `${JSON.stringify(strange.slice(0, 200))} is not a Python that Opscope has found. Add it first.`)
}

/** Naming further Pythons: typed and then confirmed in a dialog of main's, or chosen in one. What is refused changes nothing and runs nothing. */
export const pythonHandlers = ({ settings, dialogs }: Pick<Services, 'settings' | 'dialogs'>) => {
  /** The program that a text names, once the user has agreed to run it. */
  async function agreed(typed: string): Promise<string | undefined> {
    const program = programAt(typed, here)
    if (!program.ok) throw new RequestError('bad-request', program.message)
    const agrees = await dialogs.confirm({ message: 'Run this program as a Python?', detail: `${program.path}\n\nOpscope starts it now to see its version, and later to measure with it. Add only programs that you trust.`, action: 'Add and run' })
    return agrees ? program.path : undefined
  }

  return {
    'python:add': async ({ typed }) => {
      const named = typed === undefined ? await dialogs.program('Choose a Python') : await agreed(typed)
      if (named === undefined) return { done: false }
      const checked = await checkPython(named, here)
      if (!checked.ok) throw new RequestError('bad-request', checked.message)
      const python = settings.get().python ?? NOTHING
      if (python.extra.includes(checked.path)) throw new RequestError('bad-request', `${checked.path} is already looked at.`)
      if (python.extra.length >= MAX_EXTRA_PYTHONS) throw new RequestError('bad-request', `At most ${MAX_EXTRA_PYTHONS} Pythons can be added; take one out first.`)
      const next = { ...python, extra: [...python.extra, checked.path] }
      settings.set({ python: next })
      return { done: true, python: next, version: checked.version }
    },
  } satisfies Partial<Handlers>
}
