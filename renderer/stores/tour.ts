import { defineStore } from 'pinia'
import { computed, ref } from 'vue'
import { defaultTargets, tourSteps, tourSweep } from '@core/sweep/defaults'
import { useApp } from './app'
import { useDevices } from './devices'
import { useRun } from './run'

/** "Measure this machine": step 1 measures the ceilings of the devices that the tour uses, step 2 is the tour over all operations. */
export const useTour = defineStore('tour', () => {
  const app = useApp()
  const devices = useDevices()
  const run = useRun()
  const step = ref<1 | 2>()
  /** The session of a tour that has ended, until its summary is closed. */
  const ended = ref<string>()

  /** Cases and expected seconds of both steps. */
  const steps = computed(() => tourSteps(devices.devices, devices.ceilings))
  /** Expected seconds until the end of the run in progress; in step 1 until the end of both steps. */
  const secondsLeft = computed(() => {
    const own = run.state.secondsLeft
    return own === undefined ? undefined : own + (step.value === 1 ? steps.value.tour.seconds : 0)
  })

  async function start(): Promise<void> {
    if (step.value !== undefined || run.busy) return
    step.value = 1
    ended.value = undefined
    try {
      // An emulated GPU beside real devices is not in the tour, and its ceilings would take long.
      if (!(await run.measureCeilings(defaultTargets(devices.devices).map(({ device }) => device)))) return
      app.firstStart = false
      // A stop during the ceilings stops the whole tour.
      if ((await run.finished()) !== 'done') return
      step.value = 2
      const session = await run.startSweep(tourSweep(devices.devices), 'First tour: all operations')
      if (!session) return
      await run.finished()
      ended.value = session
    } finally {
      step.value = undefined
    }
  }

  return { step, steps, secondsLeft, ended, start, close: () => (ended.value = undefined) }
})
