import { flushPromises, mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Channel } from '@core/ipc'
import type { SweepSpec } from '@core/session/sweep-spec'
import { runCommand } from '../../commands/registry'
import { installMockApi } from '../../dev/mock-api'
import { mockDevices, mockPythons } from '../../dev/mock-devices'
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
  expect(wrapper.find('button').attributes('disabled')).toBeUndefined()
  expect(wrapper.text()).toContain('Looking for devices…')
  expect(wrapper.text()).not.toContain('0 cases')
  await wrapper.find('button').trigger('click')
  await flushPromises()
  expect(wrapper.find('button').text()).toContain('as soon as')
  expect(useRun().busy).toBe(false)
  await useDevices().load()
  await vi.advanceTimersByTimeAsync(500)
  expect(useRun().busy).toBe(true)
  expect(useNotices().notices).toEqual([])
  wrapper.unmount()
})

it('waits for a picked Python that is still being looked for, instead of running without it', async () => {
  const api = installMockApi({ pace: 10_000 })
  const invoke = api.invoke.bind(api)
  let found!: () => void
  const looking = new Promise<void>((resolve) => (found = resolve))
  const all = [...mockDevices.slice(0, 3), ...mockPythons]
  api.invoke = (async (channel: Channel, request: never) => {
    if (channel !== 'devices:list') return invoke(channel, request)
    await looking
    return { ok: true, value: all }
  }) as typeof api.invoke
  await useSettings().load()
  await useRun().start()
  const targets = [{ backend: 'cpu', device: 'cpu', impls: ['avx2'] }, { backend: 'python', device: 'python:cpu', impls: ['torch'] }]
  useSettings().set({ sweep: { ops: [{ op: 'add' }], sizes: { vector: '64', matrix: '64', gemm: '64' }, dtypes: ['f32'], modes: ['hot'], preset: 'quick', targets } })
  const wrapper = open()
  useDevices().start()
  api.emit('devices:changed', mockDevices.slice(0, 3))
  await vi.advanceTimersByTimeAsync(500)
  await wrapper.find('button').trigger('click')
  await vi.advanceTimersByTimeAsync(500)
  expect(useRun().busy).toBe(false)
  found()
  await vi.advanceTimersByTimeAsync(500)
  const started = api.calls.find((call) => call.channel === 'run:start')?.request as { spec: SweepSpec }
  expect(started.spec.targets.map(({ backend }) => backend)).toEqual(['cpu', 'python'])
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
  expect([button.attributes('disabled') !== undefined, button.attributes('title')]).toEqual([true, expect.stringContaining('A run is in progress')])
  wrapper.unmount()
})

it('tells what disturbs the picked devices before Run is pressed, and says nothing of others', async () => {
  await useSettings().load()
  await useRun().start()
  const devices = useDevices()
  await devices.load()
  const disturb = (texts: string[]) => (devices.devices = devices.devices.map((device) => ({ ...device, disturbances: device.backend === 'cuda' ? texts : [] })))
  disturb([])
  const wrapper = open()
  await vi.advanceTimersByTimeAsync(500)
  expect(wrapper.find('ul').exists()).toBe(false)
  disturb(['python (pid 12) holds 3 GiB.'])
  await flushPromises()
  expect(wrapper.find('ul[aria-label^="Possible interference"]').text()).toContain('cuda: python (pid 12) holds 3 GiB.')
  usePicks().setTarget(devices.devices.find((device) => device.backend === 'cuda')!, { impls: [] })
  await flushPromises()
  expect(wrapper.text()).not.toContain('python')
  wrapper.unmount()
})

it('counts the repeats of the sweep', async () => {
  await useSettings().load()
  await useDevices().load()
  const wrapper = open()
  usePicks().change({ repeats: 3 })
  await vi.advanceTimersByTimeAsync(500)
  expect(wrapper.text()).toMatch(/cases, 3 times, about/)
  wrapper.unmount()
})

it('gives no estimate while something picked is wrong', async () => {
  await useSettings().load()
  await useDevices().load()
  const wrapper = open()
  await vi.advanceTimersByTimeAsync(500)
  expect(wrapper.text()).toContain('about')
  usePicks().change({ sizes: { ...usePicks().spec!.sizes, vector: '1024..' } })
  await vi.advanceTimersByTimeAsync(500)
  expect(wrapper.text()).toContain('No estimate until the picks are complete.')
  expect(wrapper.text()).not.toContain('about')
  wrapper.unmount()
})

it('says the whole sweep in words, and why cases are left out', async () => {
  await useSettings().load()
  await useDevices().load()
  const wrapper = open()
  usePicks().load({ ops: [{ op: 'add' }, { op: 'gelu' }], sizes: { vector: '1Ki, 4Ki' }, dtypes: ['f32', 'bf16'], modes: ['hot'], preset: 'quick', targets: [{ backend: 'cuda', device: 'cuda:0', impls: ['kernel'] }, { backend: 'webgpu', device: 'webgpu:0', impls: ['wgsl'] }] })
  await vi.advanceTimersByTimeAsync(500)
  const line = wrapper.find('[data-testid=sweep-summary]')
  expect(line.text()).toMatch(/^2 operations × 2 sizes × f32, bf16 × 2 implementations, hot: 12 cases, about .+, 4 left out$/)
  await line.find('button').trigger('click')
  await flushPromises()
  expect(document.body.textContent).toMatch(/Cases that cannot be measured here.*in f32.*not in bf16/s)
  wrapper.unmount()
})

it('is the primary button unless another one is, or a run is going on', async () => {
  await useSettings().load()
  await useRun().start()
  await useDevices().load()
  await vi.advanceTimersByTimeAsync(500)
  const primary = (wrapper: ReturnType<typeof open>) => wrapper.findAll('button').at(-1)!.classes().includes('bg-accent')
  const beside = mount(RunFooter, { props: { primary: false } })
  expect(primary(beside)).toBe(false)
  beside.unmount()
  const wrapper = open()
  expect(primary(wrapper)).toBe(true)
  runCommand('run.start')
  await vi.advanceTimersByTimeAsync(500)
  expect(primary(wrapper)).toBe(false)
  wrapper.unmount()
})
