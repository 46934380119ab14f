import { defineStore } from 'pinia'
import { ref } from 'vue'
import type { SuiteChange } from './offers'

/** What the user has changed of each suite, by its id: kept while the app is open, also when another page is. */
export const useSuiteChanges = defineStore('suite-changes', () => {
  const bySuite = ref<Readonly<Record<string, SuiteChange>>>({})
  const set = (suite: string, change: SuiteChange): void => void (bySuite.value = { ...bySuite.value, [suite]: { ...bySuite.value[suite], ...change } })
  return { bySuite, set }
})
