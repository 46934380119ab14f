import { flushPromises, mount, shallowMount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import { installMockApi, type MockApi } from '../../dev/mock-api'
import { useDevices } from '../../stores/devices'
import { usePicks } from '../../stores/picks'
import { useRun } from '../../stores/run'
import { useSettings } from '../../stores/settings'
import PickPanel from './PickPanel.vue'
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

it('shows one part of the picks where there is room for one, says where sizes are wrong, and goes to the search by slash', async () => {
  const router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/', component: RunView }, { path: '/settings', component: RunView }] })
  const wrapper = mount(PickPanel, { global: { plugins: [router] }, attachTo: document.body })
  await vi.advanceTimersByTimeAsync(1000)
  const part = (name: string) => wrapper.get('[aria-label="Part of the picks"]').findAll('button').find((button) => button.text() === name)!
  const operations = () => wrapper.get('[aria-labelledby=pick-ops]').classes()
  await part('Sizes').trigger('click')
  expect(operations()).toContain('hidden')
  expect(wrapper.get('[aria-labelledby=pick-sizes]').classes()).not.toContain('hidden')
  expect(part('Sizes').find('.text-danger').exists()).toBe(false)
  await wrapper.get('input[id^=input-]').setValue('1024..')
  expect(part('Sizes').find('.text-danger').exists()).toBe(true)
  window.dispatchEvent(new KeyboardEvent('keydown', { key: '/' }))
  await flushPromises()
  expect(operations()).not.toContain('hidden')
  expect(document.activeElement?.getAttribute('aria-label')).toBe('Search operations')
  wrapper.unmount()
})
