import { defineStore } from 'pinia'
import { ref } from 'vue'
import { tourSweep } from '@core/sweep/defaults'
import { useApp } from './app'
import { useDevices } from './devices'
import { useRun } from './run'

/** "Measure this machine": the ceilings of every device, then a short tour over all operations. */
export const useTour = defineStore('tour', () => {
  const app = useApp()
  const devices = useDevices()
  const run = useRun()
  const running = ref(false)

  async function start(): Promise<void> {
    if (running.value || run.busy) return
    running.value = true
    try {
      if (!(await run.measureCeilings())) return
      app.firstStart = false
      const end = await run.finished()
      // A stop during the ceilings is meant for the whole tour.
      if (end === 'done') await run.startSweep(tourSweep(devices.devices), 'First tour')
    } finally {
      running.value = false
    }
  }

  return { running, start }
})
