import { homedir } from 'node:os'
import { MOST_EXTRA_PYTHONS, type PythonSettings } from '@core/settings'
import type { Services } from '../../app/services'
import { checkPython, programAt } from '../../backends/python/interpreters/check'
import type { Handlers } from '../answer'
import { RequestError } from '../errors'

const here = { home: homedir(), platform: process.platform }
const NOTHING: PythonSettings = { extra: [] }

/** Throws where settings would name a program that they did not name before and that is not there. */
export function checkNewPrograms(next: PythonSettings | undefined, now: PythonSettings = NOTHING): void {
  const known = new Set([...now.extra, ...(now.chosen ?? [])])
  for (const named of [...(next?.extra ?? []), ...(next?.chosen ?? [])]) {
    if (known.has(named)) continue
    const program = programAt(named, here)
    if (!program.ok) throw new RequestError('bad-request', program.message)
  }
}

/** Naming further Pythons, typed or chosen in a dialog. What is refused changes nothing. */
export const pythonHandlers = ({ settings, dialogs }: Pick<Services, 'settings' | 'dialogs'>) =>
  ({
    'python:add': async ({ typed }) => {
      const named = typed ?? (await dialogs.program('Choose a Python'))
      if (named === undefined) return { done: false }
      const checked = await checkPython(named, here)
      if (!checked.ok) throw new RequestError('bad-request', checked.message)
      const python = settings.get().python ?? NOTHING
      if (python.extra.includes(checked.path)) throw new RequestError('bad-request', `${checked.path} is already looked at.`)
      if (python.extra.length >= MOST_EXTRA_PYTHONS) throw new RequestError('bad-request', `At most ${MOST_EXTRA_PYTHONS} Pythons can be added; take one out first.`)
      const next = { ...python, extra: [...python.extra, checked.path] }
      settings.set({ python: next })
      return { done: true, python: next, version: checked.version }
    },
  }) satisfies Partial<Handlers>
