import { defineStore } from 'pinia'
import { ref, shallowRef } from 'vue'
import type { Environment, Session } from '@core/session/types'
import { call } from '../lib/api'
import { NO_ROWS } from './result-rows'
import type { RowSource } from './row-source'
import { loadRows, rowsOf } from './session-rows'

/** The saved session that the session view shows. */
export const useCurrentSession = defineStore('current-session', () => {
  const id = ref<string>()
  const session = shallowRef<Session>()
  const environment = shallowRef<Environment>()
  const rows = shallowRef<RowSource>(NO_ROWS)
  const loading = ref(false)
  const problem = shallowRef<unknown>()

  async function open(next: string): Promise<void> {
    if (id.value !== next) {
      session.value = undefined
      environment.value = undefined
    }
    id.value = next
    rows.value = rowsOf(next)
    loading.value = true
    problem.value = undefined
    try {
      const [head] = await Promise.all([call('sessions:get', { id: next }), loadRows(next)])
      if (id.value !== next) return
      session.value = head.session
      environment.value = head.environment
    } catch (error) {
      if (id.value === next) problem.value = error
    } finally {
      if (id.value === next) loading.value = false
    }
  }

  /** Fetches the record again, after a rename or at the end of a run. */
  async function refresh(): Promise<void> {
    if (id.value) await open(id.value)
  }

  function close(): void {
    id.value = undefined
    session.value = undefined
    rows.value = NO_ROWS
  }

  return { id, session, environment, rows, loading, problem, open, refresh, close }
})
