import { computed, ref, shallowReactive, watch } from 'vue'
import type { Result } from '@core/result'
import { call } from '../../lib/api'

/** Results with samples are large; the last few are kept. */
const KEPT = 24

/** The full results of these ids, read as they are asked for; those that could not be read are left out, and `problem` says why. */
export function useResults(ids: () => readonly string[]) {
  const known = shallowReactive(new Map<string, Result>())
  const asked = new Set<string>()
  const problem = ref<string>()

  async function read(id: string): Promise<void> {
    asked.add(id)
    try {
      known.set(id, await call('sessions:result', { resultId: id }))
      problem.value = undefined
      for (const old of known.keys()) {
        if (known.size <= KEPT) break
        if (!ids().includes(old)) known.delete(old)
      }
    } catch (error) {
      problem.value = error instanceof Error ? error.message : String(error)
    } finally {
      asked.delete(id)
    }
  }

  watch(() => ids().join(), () => ids().forEach((id) => !known.has(id) && !asked.has(id) && void read(id)), { immediate: true })
  const results = computed(() => ids().flatMap((id) => known.get(id) ?? []))
  return { results, reading: computed(() => problem.value === undefined && results.value.length < ids().length), problem }
}
