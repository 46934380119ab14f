import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { Comparison } from '@core/compare'
import { call } from '../lib/api'

/** The comparison on show: which sessions, and what main made of them. The first id is the baseline. */
export const useComparison = defineStore('comparison', () => {
  const ids = ref<readonly string[]>([])
  const result = shallowRef<Comparison>()
  const loading = ref(false)
  const problem = shallowRef<unknown>()
  const ready = computed(() => ids.value.length >= 2)
  let turn = 0

  async function show(next: readonly string[]): Promise<void> {
    ids.value = [...new Set(next)]
    const mine = ++turn
    problem.value = undefined
    if (!ready.value) {
      result.value = undefined
      return
    }
    loading.value = true
    try {
      const comparison = await call('compare:run', { sessionIds: [...ids.value] })
      if (mine === turn) result.value = comparison
    } catch (error) {
      if (mine === turn) {
        problem.value = error
        result.value = undefined
      }
    } finally {
      if (mine === turn) loading.value = false
    }
  }

  const pin = (id: string) => show([id, ...ids.value.filter((other) => other !== id)])
  const add = (id: string) => show([...ids.value, id])
  const drop = (id: string) => show(ids.value.filter((other) => other !== id))

  return { ids, result, loading, problem, ready, show, pin, add, drop }
})
