import { useDebounceFn } from '@vueuse/core'
import { defineStore } from 'pinia'
import { computed, ref, shallowRef, watch } from 'vue'
import type { Device, Impl } from '@core/backend'
import { presetSettings } from '@core/measure/settings'
import { SIZE_FORMS } from '@core/ops/forms'
import { findOp } from '@core/ops/registry'
import { withRounds } from '@core/session/noisy-host'
import { defaultSweep, defaultTargets, findSizePreset, SIZE_PRESETS, tourSteps, tourSweep } from '@core/sweep/defaults'
import { estimateSeconds } from '@core/sweep/estimate'
import { planSweep, type Plan } from '@core/sweep/plan'
import { presentSweep } from '@core/sweep/present'
import { summarizeSweep } from '@core/sweep/summary'
import type { SizeTexts, SweepSpec, Target } from '@core/session/sweep-spec'
import { useApp } from './app'
import { useDevices } from './devices'
import { useRun } from './run'
import { useSettings } from './settings'

const PLAN_DELAY_MS = 60
const NOTHING: Plan = { cases: [], skipped: [], problems: [] }

/** Sizes to begin with of forms that the picked operations need and that have none yet. */
const usualSizes = ({ ops, sizes }: SweepSpec): SizeTexts =>
  Object.fromEntries(ops.flatMap(({ op }) => {
    const form = findOp(op)?.size
    return form && sizes[form.id] === undefined ? [[form.id, form.presets['tour'] ?? form.example]] : []
  }))

/** What the user has picked in the run view, and what it comes to. Kept in the settings. */
export const usePicks = defineStore('picks', () => {
  const settings = useSettings()
  const devices = useDevices()
  const spec = ref<SweepSpec>()
  const plan = shallowRef<Plan>(NOTHING)
  const seconds = ref(0)
  /** Why the plan is measured in interleaved rounds although that was not chosen. */
  const noise = ref<string>()
  const planning = ref(false)

  /** What will really be run: the picks without what is not here. */
  const runnable = computed<SweepSpec | undefined>(() => spec.value && presentSweep(spec.value, devices.devices).spec)

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
      const waits = saved && (loading || presentSweep(saved, list).spec.targets.length > 0)
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
    const how = withRounds(presetSettings(preset, settings.values.presets, measure), plan.value.cases, devices.devices, devices.noiseFloors)
    noise.value = how.noise
    seconds.value = repeats * estimateSeconds(plan.value.cases, how.settings, devices.ceilings, devices.devices)
  }, PLAN_DELAY_MS)
  function replan(): void {
    planning.value = true
    void planSoon()
  }
  watch([runnable, () => devices.ceilings, () => devices.noiseFloors, () => devices.loading, () => settings.values.presets], replan, { immediate: true })

  /** Changes a part of the picks. What differs from its suite is no longer that suite. */
  function change(part: Partial<SweepSpec>): void {
    if (!spec.value) return
    const { suite: _, ...before } = spec.value
    const next = { ...before, ...part }
    spec.value = { ...next, sizes: { ...usualSizes(next), ...next.sizes } }
    if (part.targets) settled = true
    settings.set({ sweep: spec.value })
  }

  /** Replaces the picks by another sweep. */
  function load(next: SweepSpec): void {
    spec.value = next
    settled = true
    settings.set({ sweep: next })
  }

  /** The plan in words. */
  const summary = computed(() => (runnable.value ? summarizeSweep(runnable.value, plan.value, seconds.value, noise.value) : undefined))

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

  /** Size forms that the picked operations need, apart from those with sizes of their own. */
  const forms = computed(() => SIZE_FORMS.filter(({ id }) => spec.value?.ops.some(({ op, sizes }) => sizes === undefined && findOp(op)?.size.id === id)))

  /** Families whose operations the tree shows; folded where not named. */
  const openFamilies = ref<ReadonlySet<string>>(new Set())

  /** The preset whose texts these are, or undefined for custom sizes. */
  const sizePreset = computed(() => SIZE_PRESETS.find((preset) => !spec.value?.ops.some(({ sizes }) => sizes !== undefined) && forms.value.every(({ id }) => preset.sizes[id] === spec.value?.sizes[id]))?.id)
  const useSizes = (id: string) => {
    const preset = findSizePreset(id)
    if (preset) change({ sizes: { ...preset.sizes }, ops: spec.value!.ops.map(({ sizes: _, ...pick }) => pick) })
  }

  return { spec, runnable, plan, seconds, planning, summary, change, load, targetOf, setTarget, lanes, forms, openFamilies, sizePreset, useSizes }
})

/** What the tour measures; its size is what fits the time (core/sweep/defaults.ts). */
export const TOUR_WORDS = 'one operation of each family'

/** "Measure this machine": step 1 measures the ceilings of the devices that the tour uses, step 2 is the tour over the families of operations. */
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
      const session = await run.startSweep(tourSweep(devices.devices), `First tour: ${TOUR_WORDS}`)
      if (!session) return
      await run.finished()
      ended.value = session
    } finally {
      step.value = undefined
    }
  }

  return { step, steps, secondsLeft, ended, start, close: () => (ended.value = undefined) }
})
