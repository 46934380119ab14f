import { flushPromises, mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import { SUITES } from '@core/suites'
import { installMockApi } from '../../dev/mock-api'
import { useDevices } from '../../stores/devices'
import { usePicks } from '../../stores/picks'
import { useSettings } from '../../stores/settings'
import { useSweeps } from '../../stores/sweeps'
import SweepMenu from './SweepMenu.vue'

beforeEach(async () => {
  vi.useFakeTimers()
  setActivePinia(createPinia())
  installMockApi({ empty: true })
  await useSettings().load()
  await useDevices().load()
  usePicks()
  await vi.advanceTimersByTimeAsync(500)
})
afterEach(() => {
  vi.useRealTimers()
  document.body.innerHTML = ''
})

async function open() {
  const router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/', component: SweepMenu }] })
  const wrapper = mount(SweepMenu, { attachTo: document.body, global: { plugins: [router] } })
  const main = () => wrapper.findAll('button')[0]!
  const entries = () => [...document.querySelectorAll<HTMLElement>('[data-entry]')]
  const unfold = async () => {
    await main().trigger('click')
    // Vue drops events from the moment in which a listener was added.
    await vi.advanceTimersByTimeAsync(10)
  }
  return { wrapper, main, entries, unfold }
}

it('saves the picks under a name and shows it, until something else is picked', async () => {
  const { wrapper, main } = await open()
  expect(main().text()).toBe('Suites and saved sweeps')
  await wrapper.findAll('button')[1]!.trigger('click')
  await flushPromises()
  const field = document.querySelector<HTMLInputElement>('form input')!
  expect(document.activeElement).toBe(field)
  field.value = 'nightly'
  field.dispatchEvent(new Event('input', { bubbles: true }))
  await flushPromises()
  document.querySelector('form')!.dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }))
  await flushPromises()
  expect(main().text()).toBe('nightly')
  usePicks().change({ repeats: 4 })
  await flushPromises()
  expect(main().text()).toBe('Suites and saved sweeps')
  wrapper.unmount()
})

it('lists saved sweeps, suites and recent picks with what they measure, and takes one', async () => {
  const picks = usePicks()
  const sweeps = useSweeps()
  picks.change({ ops: [{ op: 'gelu' }], repeats: 2 })
  sweeps.save('nightly')
  picks.change({ ops: [{ op: 'exp' }], repeats: undefined })
  sweeps.ran(picks.spec!)
  picks.change({ ops: [{ op: 'add' }] })
  const { wrapper, entries, unfold } = await open()
  await unfold()
  expect(entries()).toHaveLength(2 + SUITES.length)
  expect(entries()[0]!.textContent).toMatch(/nightly.*1 operation × 1 size × f32/s)
  expect(entries().at(-1)!.textContent).toMatch(/^exp/)
  entries()[0]!.click()
  await flushPromises()
  expect([picks.spec!.ops, picks.spec!.repeats]).toEqual([[{ op: 'gelu' }], 2])
  expect(entries()).toEqual([])
  wrapper.unmount()
})

it('is walked with the arrow keys, and Delete deletes a saved sweep', async () => {
  const sweeps = useSweeps()
  sweeps.save('a')
  sweeps.save('b')
  const { wrapper, entries, unfold } = await open()
  await unfold()
  entries()[0]!.focus()
  const press = async (key: string) => {
    document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
    await flushPromises()
  }
  await press('ArrowDown')
  expect(document.activeElement!.textContent).toContain('b')
  await press('Delete')
  expect(sweeps.saved.map(({ name }) => name)).toEqual(['a'])
  wrapper.unmount()
})
