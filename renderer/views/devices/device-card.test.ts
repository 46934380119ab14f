import { flushPromises, mount, RouterLinkStub } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, it } from 'vitest'
import type { Device } from '@core/backend'
import { provideAppCommands } from '../../commands/app-commands'
import { runCommand } from '../../commands/registry'
import { installMockApi, type MockApi } from '../../dev/mock-api'
import { mockDevices, mockNoiseFloors } from '../../dev/mock-devices'
import { router } from '../../router'
import { useDevices } from '../../stores/devices'
import { useRun } from '../../stores/run'
import DeviceCard from './DeviceCard.vue'

let api: MockApi
beforeEach(async () => {
  setActivePinia(createPinia())
  api = installMockApi({ pace: 10_000 })
  useDevices().start()
  await useRun().start()
  await flushPromises()
})

/** Without the copies of the curve: a chart needs a real page. */
function open(device: Device) {
  const devices = useDevices()
  const ceilings = devices.ceilingsOf(device).filter((ceiling) => !ceiling.kind.startsWith('copy:'))
  const noise = devices.noiseOf(device)
  return mount(DeviceCard, { props: { device, ceilings, ...(noise ? { noise } : {}) }, global: { stubs: { RouterLink: RouterLinkStub } } })
}
const [gpu, adapter, , missing] = mockDevices as [Device, Device, Device, Device]
const cells = (wrapper: ReturnType<typeof open>) => wrapper.findAll('[data-testid=ceilings] tbody tr').map((row) => row.findAll('th, td').map((cell) => cell.text()))
const button = (wrapper: ReturnType<typeof open>, text: RegExp) => wrapper.findAll('button').find((b) => text.test(b.text()))!

it('shows measured ceilings beside the datasheet, launches by themselves, what disturbs and the noise floor', () => {
  const wrapper = open(gpu)
  expect(cells(wrapper)[0]!.slice(0, 5)).toEqual(['Copy bandwidth', '4.19 TB/s', '±0.30 %', '4.80 TB/s', '87.3 %'])
  expect(wrapper.get('[data-testid=launch]').text()).toMatch(/back to back 2\.13 µs\s*in a graph 1\.21 µs/)
  expect(wrapper.text()).toContain('python3 (12.4 GiB) computes on this GPU.')
  expect(wrapper.get('[data-testid=noise-floor]').text()).toMatch(/0\.42 %.*0 of 24 pairs/)
  expect(wrapper.text()).not.toContain('Stale')
})

it('has a name of its own for each fact, also where the processor says how its threads are placed', () => {
  const cpu = mockDevices.find(({ backend }) => backend === 'cpu')!
  const names = open({ ...cpu, threads: [1, 2], facts: [{ name: 'Threads', value: 'one per core first, each bound to its processor: 0-1' }, ...cpu.facts.filter(({ name }) => name !== 'Threads')] }).findAll('dt').map((fact) => fact.text())
  expect(names).toEqual(expect.arrayContaining(['Thread counts', 'Threads']))
  expect(new Set(names).size).toBe(names.length)
})

it('marks what was measured under another driver', () => {
  const wrapper = open(adapter)
  expect(wrapper.findAll('[title^="Stale: measured under driver 560.35, now 570.86"]').length).toBeGreaterThan(0)
  expect(wrapper.get('[data-testid=noise-floor]').text()).toContain('Stale: measured under driver 560.35, now 570.86.')
})

it('says what is missing where nothing has been measured, and why a device cannot measure', () => {
  const wrapper = mount(DeviceCard, { props: { device: gpu, ceilings: [] }, global: { stubs: { RouterLink: RouterLinkStub } } })
  expect(wrapper.text()).toContain('No ceilings measured yet')
  expect(wrapper.get('[data-testid=noise-floor]').text()).toContain('Not measured yet')
  expect(open(missing).text()).toContain('No Python with torch was found')
  expect(open(missing).findAll('button')).toEqual([])
})

it('measures and checks this very device, and neither while a run is going on', async () => {
  const wrapper = open(gpu)
  await button(wrapper, /noise floor/).trigger('click')
  await flushPromises()
  expect(api.calls.find((call) => call.channel === 'self-check:run')?.request).toEqual({ devices: ['cuda:0'] })
  expect((button(wrapper, /noise floor/).element as HTMLButtonElement).disabled).toBe(true)
  expect(button(wrapper, /^Measure (again|ceilings)/).attributes('title')).toContain('A run is in progress')
})

it('takes up noise floors as they come', async () => {
  expect(useDevices().noiseOf(adapter)?.stale).toBe('measured under driver 560.35, now 570.86')
  api.emit('noise:changed', mockNoiseFloors.map((floor) => ({ ...floor, driver: '570.86' })))
  expect(useDevices().noiseOf(adapter)).toMatchObject({ ratioP95: 0.0114 })
  expect(useDevices().noiseOf(adapter)).not.toHaveProperty('stale')
})

it('the self-check command opens the devices and checks them all', async () => {
  const off = provideAppCommands(router)
  runCommand('run.self-check')
  await expect.poll(() => api.calls.find((call) => call.channel === 'self-check:run')?.request).toEqual({ devices: [] })
  expect(router.currentRoute.value.name).toBe('devices')
  for (const take of off) take()
})

it('shows what a device of a remote machine does, with clock and temperature, while the machine is connected', async () => {
  const far = { ...gpu, id: `gpubox/${gpu.id}`, host: 'gpubox' }
  const wrapper = open(far)
  expect(wrapper.find('[role=status]').exists()).toBe(false)
  const told = (activity: 'measuring' | 'throttled') => ({ backend: gpu.backend, device: gpu.id, activity, smClockMhz: 1979.6, temperatureC: 41 })
  api.emit('remotes:state', { name: 'gpubox', devices: [told('measuring')] })
  await flushPromises()
  expect(wrapper.get('[role=status]').text()).toBe('measuring, 1980 MHz, 41 °C')
  // Of a machine whose name begins alike.
  api.emit('remotes:state', { name: 'gpubox-2', devices: [told('throttled')] })
  await flushPromises()
  expect(wrapper.get('[role=status]').text()).toBe('measuring, 1980 MHz, 41 °C')
  api.emit('remotes:state', { name: 'gpubox', devices: [] })
  await flushPromises()
  expect(wrapper.find('[role=status]').exists()).toBe(false)
})
