import { flushPromises, mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { tourSweep } from '@core/sweep/defaults'
import StatusBar from '../../components/frame/StatusBar.vue'
import { installMockApi, type MockApi } from '../../dev/mock-api'
import { useDevices } from '../../stores/devices'
import { useRun } from '../../stores/run'
import { useSettings } from '../../stores/settings'
import { useTour } from '../../stores/picks'
import TourSummary from './TourSummary.vue'
import WelcomePanel from './WelcomePanel.vue'

let api: MockApi
beforeEach(async () => {
  vi.useFakeTimers()
  setActivePinia(createPinia())
  api = installMockApi({ empty: true, pace: 1000 })
  await useSettings().load()
  await useRun().start()
  await useDevices().load()
})
afterEach(() => vi.useRealTimers())

it('names both steps of the first start with cases and time, and the time of both together', () => {
  const text = mount(WelcomePanel).text()
  expect(text).toMatch(/Step 1 of 2: ceilings\s*\d+ cases, about \d/)
  expect(text).toMatch(/Step 2 of 2: one operation of each family\s*\d+ cases, about \d/)
  expect(text).toMatch(/About \d.* in total/)
  const seconds = [...text.matchAll(/about ((?:\d+ (?:h|min|s)\s?)+)/gi)].map(([, time]) => [...time!.matchAll(/(\d+) (h|min|s)/g)].reduce((sum, [, n, unit]) => sum + Number(n) * { h: 3600, min: 60, s: 1 }[unit as 'h' | 'min' | 's'], 0))
  expect(seconds).toHaveLength(3)
  expect(seconds[0]! + seconds[1]!).toBe(seconds[2])
})

it('names the devices that both steps measure, and apart from them those that the user has to pick', () => {
  const store = useDevices()
  store.devices = [...store.devices, { ...store.devices.find(({ backend }) => backend === 'webgpu')!, id: 'webgpu:1', name: 'Software adapter', software: true }]
  const [inTour, others] = mount(WelcomePanel).text().split('Not in the tour: ')
  const measured = new Set(tourSweep(store.devices).targets.map(({ device }) => device))
  expect(measured).not.toContain('webgpu:1')
  for (const { id, backend, name } of store.available) {
    expect(inTour!.includes(`${name} (${backend})`), id).toBe(measured.has(id))
    expect(others!.includes(`${name} (${backend})`), id).toBe(!measured.has(id))
  }
})

it('shows the step and the time left of both steps, then of the second alone, and at its end a summary', async () => {
  const tour = useTour()
  const run = useRun()
  const bar = mount(StatusBar)
  void tour.start()
  await flushPromises()
  expect(bar.text()).toContain('Step 1 of 2: ceilings')
  run.state = { ...run.state, phase: 'running', secondsLeft: 10 }
  expect(tour.secondsLeft).toBeCloseTo(10 + tour.steps.tour.seconds)
  await vi.advanceTimersByTimeAsync(2500)
  expect(tour.step).toBe(2)
  expect(bar.text()).toContain('Step 2 of 2: one operation of each family')
  run.state = { ...run.state, secondsLeft: 10 }
  expect(tour.secondsLeft).toBe(10)
  await run.stop()
  await flushPromises()
  expect(tour.step).toBeUndefined()
  expect(tour.ended).toBe(run.sessionId)
})

it('summarizes the limits of the devices and the causes of grades below A', async () => {
  const run = useRun()
  useDevices().ceilings = (await import('../../dev/mock-devices')).mockCeilings
  void useTour().start()
  await flushPromises()
  await vi.advanceTimersByTimeAsync(60_000)
  const summary = mount(TourSummary, { props: { sessionId: run.sessionId! } })
  await flushPromises()
  expect(summary.text()).toMatch(/Copy bandwidth\s*[\d.]+ TB\/s <?±[\d.]+ %, [\d.]+ % of the datasheet/)
  expect(summary.text()).toMatch(/\d+ A, \d+ B, \d+ C\./)
  expect(summary.findAll('[aria-label="Causes of grades below A"] li').length).toBeGreaterThan(0)
  expect(api.calls.filter(({ channel }) => channel === 'sessions:result').length).toBeGreaterThan(0)
})
