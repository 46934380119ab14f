import { flushPromises, shallowMount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import { installMockApi, type MockApi } from '../../dev/mock-api'
import { useDevices } from '../../stores/devices'
import { usePicks } from '../../stores/picks'
import { useRun } from '../../stores/run'
import { useSettings } from '../../stores/settings'
import RunView from './RunView.vue'

let api: MockApi
beforeEach(async () => {
  vi.useFakeTimers()
  setActivePinia(createPinia())
  api = installMockApi({ pace: 10_000 })
  await useSettings().load()
  await useRun().start()
  await useDevices().load()
})
afterEach(() => vi.useRealTimers())

const looks = () => api.calls.filter(({ channel, request }) => channel === 'devices:list' && (request as { refresh: boolean }).refresh).length
const open = () => shallowMount(RunView, { global: { plugins: [createRouter({ history: createMemoryHistory(), routes: [{ path: '/', component: RunView }] })] } })
async function focus(afterMs: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(afterMs)
  window.dispatchEvent(new Event('focus'))
  await flushPromises()
}

it('looks what disturbs the devices when it is shown and when the window comes back, not too often', async () => {
  await vi.advanceTimersByTimeAsync(10_000)
  const wrapper = open()
  await flushPromises()
  expect(looks()).toBe(1)
  await focus(100)
  expect(looks()).toBe(1)
  await focus(10_000)
  expect(looks()).toBe(2)
  expect(useDevices().loading).toBe(false)
  wrapper.unmount()
  await focus(10_000)
  expect(looks()).toBe(2)
})

it('asks nothing of a machine that measures', async () => {
  const wrapper = open()
  usePicks()
  await vi.advanceTimersByTimeAsync(1000)
  await useRun().startSweep(usePicks().runnable!)
  const before = looks()
  await focus(10_000)
  expect(looks()).toBe(before)
  wrapper.unmount()
})
