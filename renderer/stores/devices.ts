import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { Device } from '@core/backend'
import type { Ceiling } from '@core/session/types'
import { call, listen } from '../lib/api'

/** What can measure on this machine, and the measured limits of each. */
export const useDevices = defineStore('devices', () => {
  const devices = shallowRef<readonly Device[]>([])
  const ceilings = shallowRef<Ceiling[]>([])
  const loading = ref(false)
  const problem = shallowRef<unknown>()

  const available = computed(() => devices.value.filter((device) => device.available.ok))

  async function load(refresh = false): Promise<void> {
    loading.value = true
    problem.value = undefined
    try {
      ;[devices.value, ceilings.value] = await Promise.all([call('devices:list', { refresh }), call('ceilings:list', undefined)])
    } catch (error) {
      problem.value = error
    } finally {
      loading.value = false
    }
  }

  function start(): void {
    listen('devices:changed', (list) => (devices.value = list))
    listen('ceilings:changed', (list) => (ceilings.value = list))
    void load()
  }

  const ceilingsOf = (backend: string, device: string) => ceilings.value.filter((c) => c.backend === backend && c.device === device)

  return { devices, available, ceilings, ceilingsOf, loading, problem, load, start }
})
