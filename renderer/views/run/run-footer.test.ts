import { flushPromises, mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { runCommand } from '../../commands/registry'
import { installMockApi } from '../../dev/mock-api'
import { useDevices } from '../../stores/devices'
import { useNotices } from '../../stores/notices'
import { usePicks } from '../../stores/picks'
import { useRun } from '../../stores/run'
import { useSettings } from '../../stores/settings'
import RunFooter from './RunFooter.vue'

beforeEach(() => {
  vi.useFakeTimers()
  setActivePinia(createPinia())
  installMockApi({ pace: 10_000 })
})
afterEach(() => vi.useRealTimers())

const open = () => mount(RunFooter, { attachTo: document.body })

it('starts a run that was asked for before the plan was ready', async () => {
  await useSettings().load()
  await useRun().start()
  const wrapper = open()
  runCommand('run.start')
  await flushPromises()
  expect(wrapper.find('button').text()).toContain('as soon as')
  expect(useRun().busy).toBe(false)
  await useDevices().load()
  await vi.advanceTimersByTimeAsync(500)
  expect(useRun().busy).toBe(true)
  expect(useNotices().notices).toEqual([])
  wrapper.unmount()
})

it('says why a run cannot start', async () => {
  await useSettings().load()
  await useRun().start()
  await useDevices().load()
  const wrapper = open()
  usePicks().change({ ops: [] })
  await vi.advanceTimersByTimeAsync(500)
  runCommand('run.start')
  expect(useNotices().notices.at(-1)?.message).toMatch(/^[A-Z].*[.]$/)
  expect(useRun().busy).toBe(false)
  wrapper.unmount()
})

it('keeps its height while a run is going on, and tells on the button', async () => {
  await useSettings().load()
  await useRun().start()
  await useDevices().load()
  const wrapper = open()
  await vi.advanceTimersByTimeAsync(500)
  const before = wrapper.find('footer').element.children.length
  runCommand('run.start')
  await vi.advanceTimersByTimeAsync(50)
  expect(useRun().busy).toBe(true)
  expect(wrapper.find('footer').element.children.length).toBe(before)
  const button = wrapper.findAll('button').at(-1)!
  expect([button.attributes('disabled') !== undefined, button.attributes('title')]).toEqual([true, expect.stringContaining('A run is going on')])
  wrapper.unmount()
})
