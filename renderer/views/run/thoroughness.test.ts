import { mount, RouterLinkStub } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { PRESETS } from '@core/measure/settings'
import { installMockApi } from '../../dev/mock-api'
import { useDevices } from '../../stores/devices'
import { usePicks } from '../../stores/picks'
import { useSettings } from '../../stores/settings'
import ThoroughnessPicker from './ThoroughnessPicker.vue'

beforeEach(() => {
  vi.useFakeTimers()
  setActivePinia(createPinia())
  installMockApi()
})
afterEach(() => vi.useRealTimers())

async function open() {
  await useSettings().load()
  await useDevices().load()
  const picks = usePicks()
  await vi.advanceTimersByTimeAsync(500)
  return { picks, wrapper: mount(ThoroughnessPicker, { global: { stubs: { RouterLink: RouterLinkStub } } }) }
}

it('repeats multiply the time and go back to one', async () => {
  const { picks, wrapper } = await open()
  const once = picks.seconds
  const button = (label: string) => wrapper.find(`button[aria-label="${label}"]`)
  expect((button('One repeat less').element as HTMLButtonElement).disabled).toBe(true)
  await button('One repeat more').trigger('click')
  await button('One repeat more').trigger('click')
  await vi.advanceTimersByTimeAsync(500)
  expect(picks.runnable?.repeats).toBe(3)
  expect(picks.seconds).toBeCloseTo(3 * once, 6)
  await wrapper.find('input[aria-label="Repeats"]').setValue('1')
  expect(picks.spec!.repeats).toBeUndefined()
})

it.each([['400', '50'], ['0', '1'], ['2.4', '2'], ['many', '1'], [' ', '4']])('repeats typed as %j come to %s', async (text, count) => {
  const { picks, wrapper } = await open()
  picks.change({ repeats: 4 })
  const input = wrapper.find<HTMLInputElement>('input[aria-label="Repeats"]')
  await input.setValue(text)
  expect([input.element.value, String(picks.spec?.repeats ?? 1)]).toEqual([count, count])
})

it('tells the rule of the preset as the user has it, and plans by it', async () => {
  const { picks, wrapper } = await open()
  picks.change({ preset: 'thorough' })
  await vi.advanceTimersByTimeAsync(500)
  const before = picks.seconds
  expect(wrapper.text()).toContain('±0.2 %, after at least 64 samples')
  useSettings().set({ presets: { thorough: { ...PRESETS.thorough, rule: { id: 'fixed-time', seconds: 20 }, minSeconds: 20, maxSeconds: 90 } } })
  await vi.advanceTimersByTimeAsync(500)
  expect(wrapper.text()).toContain('Samples each case for 20 s; time limit 90 s per case')
  expect(picks.seconds).toBeGreaterThan(before)
  expect(wrapper.findComponent(RouterLinkStub).props('to')).toBe('/settings')
})

it('measures the energy of calls where it is chosen, and leaves no trace where it is not', async () => {
  const { picks, wrapper } = await open()
  const box = wrapper.find<HTMLInputElement>('input[type="checkbox"]')
  expect(box.element.checked).toBe(false)
  await vi.advanceTimersByTimeAsync(500)
  const before = picks.seconds
  await box.setValue(true)
  await vi.advanceTimersByTimeAsync(500)
  expect(picks.runnable?.measure).toEqual({ energy: true })
  expect(picks.seconds).toBeGreaterThan(before)
  await box.setValue(false)
  expect(picks.spec!.measure).toBeUndefined()
})

it('measures in interleaved rounds on a noisy host, with the reason, or always, or never', async () => {
  const { picks, wrapper } = await open()
  const cpu = useDevices().devices.find(({ id }) => id === 'cpu')!
  picks.change({ targets: [{ backend: cpu.backend, device: cpu.id, impls: cpu.impls.filter(({ available }) => available.ok).slice(0, 2).map(({ id }) => id) }] })
  await vi.advanceTimersByTimeAsync(500)
  const select = wrapper.find('select')
  expect((select.element as HTMLSelectElement).value).toBe('auto')
  expect(picks.summary!.text).toContain('in interleaved rounds (noisy host: noise floor 2.12 %), about')
  for (const [choice, measure] of [['off', { rounds: false }], ['on', { rounds: true }]] as const) {
    await select.setValue(choice)
    await vi.advanceTimersByTimeAsync(500)
    expect(picks.spec!.measure).toEqual(measure)
    expect(picks.summary!.text).not.toContain('noisy host')
  }
  await select.setValue('auto')
  expect(picks.spec!.measure).toBeUndefined()
})
