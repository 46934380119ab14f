import { flushPromises, mount, RouterLinkStub } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, it } from 'vitest'
import type { Channel } from '@core/ipc'
import { installMockApi, type MockApi } from '../../dev/mock-api'
import { mockDevices, mockPythons } from '../../dev/mock-devices'
import { useDevices } from '../../stores/devices'
import { useNotices } from '../../stores/notices'
import { useSettings } from '../../stores/settings'
import TopBar from '../frame/TopBar.vue'
import TargetPicker from '../target-picker/TargetPicker.vue'
import { foundPythons, withChoice } from './interpreters'
import PythonSection from './PythonSection.vue'

let api: MockApi
beforeEach(async () => {
  setActivePinia(createPinia())
  api = installMockApi()
  useDevices().start()
  await flushPromises()
  api.emit('devices:changed', [...mockDevices.slice(0, 3), ...mockPythons])
})
const sent = () => api.calls.filter((call) => call.channel === 'settings:set').at(-1)?.request

it('one card for each Python, with devices, packages and the command that installs what is missing', () => {
  const wrapper = mount(PythonSection)
  const cards = wrapper.findAll('article')
  expect(cards).toHaveLength(2)
  expect(cards[0]!.text()).toMatch(/Python 3\.12\.3.*virtual environment.*2\.11\.0, CUDA 13\.0, 1 GPU.*python:cuda:0.*python:cpu/)
  expect(wrapper.get('details').text()).toMatch(/1 more Python found, not chosen.*apt-get install python3-torch/)
  expect(cards[1]!.find('[aria-label="Copy the command that installs PyTorch"]').exists()).toBe(true)
})

it('says that none was found only once it has looked', async () => {
  const { interpreter: _, ...placeholder } = mockPythons[0]!
  api.emit('devices:changed', [...mockDevices.slice(0, 3), { ...placeholder, available: { ok: false, reason: 'no Python was found: install one' } }])
  const wrapper = mount(PythonSection)
  expect(wrapper.text()).toContain('no Python was found: install one')
  useDevices().loading = true
  await flushPromises()
  expect(wrapper.text()).toContain('Looking for Python interpreters…')
  expect(wrapper.text()).not.toContain('no Python was found')
})

it('chooses another beside the one in use, and looks again', async () => {
  const wrapper = mount(PythonSection)
  await wrapper.get('[aria-label="Measure with /usr/bin/python3"]').trigger('change')
  await flushPromises()
  expect(sent()).toEqual({ python: { extra: [], chosen: ['/opt/torch/bin/python', '/usr/bin/python3'] } })
  expect(api.calls.at(-1)).toMatchObject({ channel: expect.stringMatching(/list$/) as string })
})

it('takes a path of the user, or one from a dialog; what main refuses stays with its reason', async () => {
  const wrapper = mount(PythonSection)
  await wrapper.get('input.field').setValue('torch/bin/python')
  await wrapper.get('form').trigger('submit')
  await flushPromises()
  expect(wrapper.get('[role=alert]').text()).toContain('not a whole path')
  expect(wrapper.get<HTMLInputElement>('input.field').element.value).toBe('torch/bin/python')
  await wrapper.get('input.field').setValue('/home/me/torch')
  expect(wrapper.find('[role=alert]').exists()).toBe(false)
  await wrapper.get('form').trigger('submit')
  await flushPromises()
  expect(wrapper.get<HTMLInputElement>('input.field').element.value).toBe('')
  await wrapper.findAll('button').find((button) => button.text() === 'Choose…')!.trigger('click')
  await flushPromises()
  expect(wrapper.text()).toMatch(/Also looked at.*\/home\/me\/torch.*\/opt\/chosen\/bin\/python/)
  expect(api.calls.filter((call) => call.channel === 'devices:list').length).toBeGreaterThanOrEqual(2)
})

it('a choice that main refuses is shown as not made', async () => {
  const wrapper = mount(PythonSection)
  const invoke = api.invoke.bind(api)
  api.invoke = ((channel: Channel, request: never) => (channel === 'settings:set' ? Promise.resolve({ ok: false, error: { code: 'bad-request', message: 'There is nothing at /usr/bin/python3.' } }) : invoke(channel, request))) as typeof api.invoke
  await wrapper.get('[aria-label="Measure with /usr/bin/python3"]').trigger('change')
  await flushPromises()
  expect(useSettings().values.python).toBeUndefined()
  expect(useNotices().notices[0]?.message).toContain('There is nothing at /usr/bin/python3.')
})

it('taking out the last choice leaves it to the machine', () => {
  const found = foundPythons(mockPythons, undefined)
  expect(found.map(({ chosen }) => chosen)).toEqual([true, false])
  expect(withChoice({ extra: [], chosen: ['/opt/torch/bin/python'] }, found, '/opt/torch/bin/python', false)).toEqual({ extra: [] })
})

it('the run view offers chosen Pythons with their implementations, and no others', () => {
  const text = mount(TargetPicker).text()
  expect(text).toContain('Python 3.12.3')
  expect(text).toMatch(/torch\.compile\s*triton/)
  expect(text).not.toContain('found, not chosen')
})

it('a hint of an implementation counts what can be picked, and names no hidden operation', () => {
  const hints = mount(TargetPicker).findAll('button[aria-pressed]').map((chip) => chip.attributes('title') ?? '')
  expect(hints.filter((hint) => /: \d+ of \d+ operations \(.*f32.*\)$/.test(hint)).length).toBeGreaterThan(2)
  expect(hints.join(' ')).not.toMatch(/spin|peak_/)
})

it('hardware that several backends share is spoken of once', () => {
  const picker = mount(TargetPicker)
  expect(picker.text().match(/computes on this GPU/g)).toHaveLength(1)
  const bar = mount(TopBar, { global: { stubs: { RouterLink: RouterLinkStub } } })
  const shown = bar.findAll('a > span:not(.sr-only), [draggable] > span:not(.sr-only)').map((entry) => entry.text().replace(/\s+/g, ' '))
  expect(shown).toEqual(['cuda NVIDIA H200', 'webgpu NVIDIA H200', 'cpu Intel Xeon Platinum 8481C 16 threads', 'python 3.12.3 PyTorch 2.11.0'].map((text) => expect.stringMatching(text.replaceAll(' ', ' ?')) as string))
})

it('alarms nobody about a package that is just not there', () => {
  const wrapper = mount(PythonSection)
  expect(wrapper.get('details').text()).toContain('not installed')
  expect(wrapper.find('.text-warning').exists()).toBe(false)
})
