import { shallowRef, watch } from 'vue'
import type { Finding, Severity } from '@core/analysis/advice'
import { call } from '../../lib/api'
import type { IconName } from '../ui/icons'

/** What stands out in a session; `undefined` until it is known. `key` undefined: not to be looked for now, as while it is measured. */
export function useFindings(key: () => { id: string; rows: number } | undefined) {
  const findings = shallowRef<readonly Finding[]>()
  const problem = shallowRef<unknown>()
  let shown: string | undefined
  watch(
    () => {
      const wanted = key()
      return wanted && `${wanted.id}|${wanted.rows}`
    },
    async (now) => {
      const wanted = key()
      if (!wanted || wanted.id !== shown) findings.value = undefined
      shown = wanted?.id
      problem.value = undefined
      if (!wanted) return
      try {
        const found = await call('sessions:findings', { id: wanted.id })
        const still = key()
        if (still && `${still.id}|${still.rows}` === now) findings.value = found
      } catch (error) {
        problem.value = error
      }
    },
    { immediate: true },
  )
  return { findings, problem }
}

/** Sign, word and colour of a severity; the word stands beside the sign wherever it is shown. */
export const SEVERITY_LOOKS: Readonly<Record<Severity, { icon: IconName; word: string; tone: string }>> = {
  problem: { icon: 'cross', word: 'Problem', tone: 'text-danger' },
  warning: { icon: 'warning', word: 'Warning', tone: 'text-warning' },
  info: { icon: 'info', word: 'Note', tone: 'text-muted' },
}
