import { useDebounceFn } from '@vueuse/core'
import { defineStore } from 'pinia'
import { computed, ref, shallowRef, watch } from 'vue'
import type { Device, Impl } from '@core/backend'
import { presetSettings } from '@core/measure/settings'
import { SIZE_FORMS } from '@core/ops/forms'
import { OPS } from '@core/ops/registry'
import { defaultSweep, defaultTargets, findSizePreset, SIZE_PRESETS, tourSteps, tourSweep } from '@core/sweep/defaults'
import { estimateSeconds } from '@core/sweep/estimate'
import { planSweep, type Plan } from '@core/sweep/plan'
import type { SweepSpec, Target } from '@core/session/sweep-spec'
import { useApp } from './app'
import { useDevices } from './devices'
import { useRun } from './run'
import { useSettings } from './settings'

const PLAN_DELAY_MS = 60
const NOTHING: Plan = { cases: [], skipped: [], problems: [] }

/** What the user has picked in the run view, and what it comes to. Kept in the settings. */
export const usePicks = defineStore('picks', () => {
  const settings = useSettings()
  const devices = useDevices()
  const spec = ref<SweepSpec>()
  const plan = shallowRef<Plan>(NOTHING)
  const seconds = ref(0)
  const planning = ref(false)

  /** The part of a target that this machine has now: devices and implementations come and go between starts. */
  function presentPart(target: Target): Target[] {
    const device = devices.available.find((d) => d.backend === target.backend && d.id === target.device)
    const impls = target.impls.filter((id) => device?.impls.some((impl) => impl.id === id && impl.available.ok))
    if (!device || !impls.length) return []
    const threads = target.threads?.filter((count) => device.threads.includes(count))
    return [{ backend: target.backend, device: target.device, impls, ...(threads?.length ? { threads } : {}) }]
  }

  /** What will really be run: the picks without what is not here. */
  const runnable = computed<SweepSpec | undefined>(() => spec.value && { ...spec.value, targets: spec.value.targets.flatMap(presentPart) })

  /** Picks of last time, as they were when the app started. */
  let saved: SweepSpec | undefined
  /** Whether the targets are the user's or final; until then they follow the devices as these are found. */
  let settled = false

  /** Picks of last time, or the default sweep. They can be changed at once, while devices come in one by one. */
  watch(
    [() => settings.loaded, () => devices.devices, () => devices.loading],
    ([loaded, list, loading]) => {
      if (!loaded || settled) return
      if (!spec.value) {
        saved = settings.values.sweep
        spec.value = saved ?? defaultSweep(list)
      }
      if (!list.length) return
      // A saved target may be on a device that is still to come.
      const waits = saved && (loading || saved.targets.some((target) => presentPart(target).length))
      if (!waits) spec.value = { ...spec.value, targets: defaultTargets(list) }
      if (!saved && !spec.value.modes.length) spec.value = { ...spec.value, modes: defaultSweep(list).modes }
      settled = !loading
    },
    { immediate: true },
  )

  const planSoon = useDebounceFn(() => {
    planning.value = false
    // Nothing to complain of while the picked device may still be found.
    if (!runnable.value || (devices.loading && !runnable.value.targets.length)) return
    const { preset, measure, repeats = 1 } = runnable.value
    plan.value = planSweep(runnable.value, devices.devices)
    seconds.value = repeats * estimateSeconds(plan.value.cases, presetSettings(preset, settings.values.presets, measure), devices.ceilings, devices.devices)
  }, PLAN_DELAY_MS)
  function replan(): void {
    planning.value = true
    void planSoon()
  }
  watch([runnable, () => devices.ceilings, () => devices.loading, () => settings.values.presets], replan, { immediate: true })

  function change(part: Partial<SweepSpec>): void {
    if (!spec.value) return
    spec.value = { ...spec.value, ...part }
    if (part.targets) settled = true
    settings.set({ sweep: spec.value })
  }

  const targetOf = (device: Device) => spec.value?.targets.find((target) => target.backend === device.backend && target.device === device.id)

  /** Replaces a device's part; without implementations it is dropped. */
  function setTarget(device: Device, next: Pick<Target, 'impls' | 'threads'>): void {
    const others = (spec.value?.targets ?? []).filter((target) => target.backend !== device.backend || target.device !== device.id)
    const mine = next.impls.length ? [{ backend: device.backend, device: device.id, ...next }] : []
    const rank = (target: Target) => devices.devices.findIndex((d) => d.backend === target.backend && d.id === target.device)
    change({ targets: [...others, ...mine].sort((a, b) => rank(a) - rank(b)) })
  }

  /** The implementations picked now, with their devices. */
  const lanes = computed<{ device: Device; impl: Impl }[]>(() =>
    devices.available.flatMap((device) => device.impls.filter((impl) => targetOf(device)?.impls.includes(impl.id)).map((impl) => ({ device, impl }))),
  )

  /** Size forms that the picked operations need. */
  const forms = computed(() => SIZE_FORMS.filter(({ id }) => spec.value?.ops.some(({ op }) => OPS.find((o) => o.id === op)?.size.id === id)))

  /** The preset whose texts these are, or undefined for custom sizes. */
  const sizePreset = computed(() => SIZE_PRESETS.find((preset) => forms.value.every(({ id }) => preset.sizes[id] === spec.value?.sizes[id]))?.id)
  const useSizes = (id: string) => {
    const preset = findSizePreset(id)
    if (preset) change({ sizes: { ...preset.sizes } })
  }

  return { spec, runnable, plan, seconds, planning, change, targetOf, setTarget, lanes, forms, sizePreset, useSizes }
})

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
