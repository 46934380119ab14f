import { defineStore } from 'pinia'
import { ref } from 'vue'
import { defaultTargets, tourSweep } from '@core/sweep/defaults'
import { useApp } from './app'
import { useDevices } from './devices'
import { useRun } from './run'

/** "Measure this machine": the ceilings of the devices that the tour uses, then the tour, which takes each operation once or more. */
export const useTour = defineStore('tour', () => {
  const app = useApp()
  const devices = useDevices()
  const run = useRun()
  const running = ref(false)

  async function start(): Promise<void> {
    if (running.value || run.busy) return
    running.value = true
    try {
      // An emulated GPU beside real devices is in no tour, and its ceilings would take long and say nothing.
      if (!(await run.measureCeilings(defaultTargets(devices.devices).map(({ device }) => device)))) return
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
