import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import { NO_FLEET, type FleetHost, type FleetState } from '@core/fleet/state'
import { installMockApi, type MockApi } from '../../dev/mock-api'
import type { Channel } from '@core/ipc'
import { useDevices } from '../../stores/devices'
import { useNotices } from '../../stores/notices'
import { usePicks } from '../../stores/picks'
import { useSettings } from '../../stores/settings'
import { fleetRows, fleetSentence } from './fleet-rows'
import FleetView from './FleetView.vue'

const host = (name: string, change: Partial<FleetHost> = {}, device: Partial<FleetHost['devices'][number]> = {}): FleetHost => ({
  host: name, opscope: '0.1.0', state: 'up',
  devices: [{ backend: 'cuda', device: 'cuda:0', name: 'NVIDIA H200', state: 'measuring', current: 'softmax 4096x4096 f32 cuda:0 kernel hot', seconds: 2, measured: 12, waiting: 30, secondsLeft: 240, smClockMhz: 1980, temperatureC: 41, ...device }],
  ...change,
})
const FLEET: FleetState = {
  server: 'tls://nats.example:4222', connection: 'up', shared: [], unserved: [], collecting: true,
  hosts: [host('gone', { state: 'silent', reason: 'No heartbeat for 9 s: the machine, its network or its agent is down.' }), host('n1'), host('n2', {}, { state: 'throttled', current: undefined, seconds: undefined, waiting: 0, secondsLeft: undefined, smClockMhz: undefined, temperatureC: undefined })],
  sessions: [{ id: 'session-1', name: 'Every card', results: 12, planned: 48 }],
}

let api: MockApi
let wrapper: VueWrapper
beforeEach(async () => {
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(600)
  setActivePinia(createPinia())
  api = installMockApi()
  await useSettings().load()
})
afterEach(() => {
  wrapper.unmount()
  vi.restoreAllMocks()
})

async function open(state: FleetState): Promise<void> {
  api.fleet = state
  const router = createRouter({ history: createMemoryHistory(), routes: ['fleet', 'devices'].map((name) => ({ path: `/${name}`, name, component: FleetView })).concat({ path: '/session/:id', name: 'session', component: FleetView }) })
  await router.push('/fleet')
  wrapper = mount(FleetView, { attachTo: document.body, global: { plugins: [router] } })
  await flushPromises()
}
const button = (text: string) => wrapper.findAll('button').find((one) => one.text() === text)!
const calls = (channel: string) => api.calls.filter((call) => call.channel === channel).map(({ request }) => request)
const lines = () => wrapper.findAll('.fleet-grid [role=row]').slice(1).map((row) => row.findAll('[role=gridcell]').map((cell) => cell.text()))

it('says what to do while no server is set, and uses the one that is entered', async () => {
  await open(NO_FLEET)
  expect(wrapper.text()).toContain('No NATS server is set')
  expect(wrapper.text()).toContain('opscope fleet up --server')
  await wrapper.get('input[type=text]').setValue('tls://nats.example:4222')
  await wrapper.get('form').trigger('submit')
  await flushPromises()
  expect(calls('fleet:use')).toEqual([{ server: 'tls://nats.example:4222', credentials: 'none', insecure: false }])
  expect(wrapper.text()).toContain('No agent is connected yet')
})

it('shows what each device does, what is queued, how long is left, and why a host is lost', async () => {
  await open(FLEET)
  expect(wrapper.text()).toContain('2 hosts, 2 devices: 1 measuring, 1 throttled. 1 host lost. 60 cases queued, 4 min left')
  expect(lines()).toEqual([
    ['n1', '1 device', 'up', 'Drain'],
    ['cuda:0', 'NVIDIA H200', 'measuring', 'softmax 4096x4096 f32 cuda:0 kernel hot', '2 s', '12', '30', '4 min', '1980 MHz', '41 °C'],
    ['n2', '1 device', 'up', 'Drain'],
    ['cuda:0', 'NVIDIA H200', 'throttled', '–', '–', '12', '0', '–', '–', '–'],
    ['gone', '1 device', 'lost', 'No heartbeat for 9 s: the machine, its network or its agent is down.'],
    ['cuda:0', 'NVIDIA H200', 'unknown', '–', '–', '12', '30', '–', '–', '–'],
  ])
  expect(wrapper.text()).toContain('12 of 48 results')
  api.emit('fleet:state', { ...FLEET, hosts: [host('n7')] })
  await flushPromises()
  expect(lines().map(([first]) => first)).toEqual(['n7', 'cuda:0'])
})

it('says how many hosts a search shows', async () => {
  await open(FLEET)
  expect(wrapper.text()).not.toContain('hosts shown')
  await wrapper.get('input[type=search]').setValue('throttled')
  expect(wrapper.text()).toContain('1 of 3 hosts shown')
})

it('drains a host by the keyboard, all by the button, and stops listening when it is left', async () => {
  await open(FLEET)
  const grid = wrapper.get('.fleet-grid')
  await grid.trigger('keydown', { key: 'ArrowDown' })
  await grid.trigger('keydown', { key: 'ArrowDown' })
  await grid.trigger('keydown', { key: 'Delete' })
  await button('Drain all').trigger('click')
  // A host that is lost has nobody to be asked.
  await grid.trigger('keydown', { key: 'End' })
  await grid.trigger('keydown', { key: 'Delete' })
  expect(calls('fleet:drain')).toEqual([{ host: 'n2' }, {}])
  wrapper.unmount()
  expect(calls('fleet:watch')).toEqual([{ on: true }, { on: false }])
})

it('says before a run what it comes to on the fleet, for the devices that are selected, or why there is nothing to measure', async () => {
  await open(FLEET)
  await useDevices().load()
  await expect.poll(() => usePicks().spec?.ops.length).toBeGreaterThan(0)
  const plan = () => document.querySelector('[data-testid=fleet-plan]')?.textContent
  await button('Run on the fleet…').trigger('click')
  await expect.poll(plan).toBe('1 operation × 2 sizes × f32 × 3 implementations, hot: 12 cases, about 8 s')
  const invoke = api.invoke.bind(api)
  api.invoke = ((channel: Channel, request: never) => (channel === 'fleet:plan' ? (api.calls.push({ channel, request }), Promise.resolve({ ok: false, error: { code: 'bad-request', message: 'The fleet has no device of the backends in this sweep.' } })) : invoke(channel, request))) as typeof api.invoke
  document.querySelector<HTMLInputElement>('[role=dialog] input[value="n1/cuda:0"]')!.click()
  await expect.poll(plan).toBe('The fleet has no device of the backends in this sweep.')
  expect((calls('fleet:plan').at(-1) as { devices: string[] }).devices).toEqual(['n1/cuda:0'])
})

it('cancels what is left of a session, undoes that, and says so where nothing is queued or the server is away', async () => {
  await open(FLEET)
  const notices = useNotices()
  const last = () => notices.notices.at(-1)
  const cancel = () => wrapper.get('[aria-label="Cancel Every card"]')
  await cancel().trigger('click')
  await flushPromises()
  expect(calls('fleet:cancel')).toEqual([{ sessionId: 'session-1' }])
  expect(last()).toMatchObject({ level: 'info', message: '36 cases of “Every card” cancelled. Results so far are kept.', open: '/session/session-1' })
  await notices.undo()
  expect(calls('fleet:restore')).toEqual([{ sessionId: 'session-1' }])
  expect(last()?.message).toBe('36 cases queued again.')

  const invoke = api.invoke.bind(api)
  const answers = (reply: object) => (api.invoke = ((channel: Channel, request: never) => (channel === 'fleet:cancel' ? Promise.resolve(reply) : invoke(channel, request))) as typeof api.invoke)
  answers({ ok: true, value: { cases: 0, undoable: false } })
  await cancel().trigger('click')
  await flushPromises()
  expect(last()?.message).toBe('No case of “Every card” is queued any more. Results so far are kept.')
  expect(last()?.undo).toBeUndefined()
  answers({ ok: false, error: { code: 'failed', message: '2 cases of “Every card” were taken out of the queue, then the NATS server was lost: timeout. Cancel again to take out the rest.' } })
  await cancel().trigger('click')
  await flushPromises()
  expect(last()).toMatchObject({ level: 'error', message: expect.stringContaining('Cancel again to take out the rest.') })

  api.emit('fleet:state', { ...FLEET, connection: 'lost' })
  await flushPromises()
  expect(cancel().attributes()).toMatchObject({ disabled: '', title: 'The queue is on the NATS server, which is not connected' })
})

it('says why the server cannot be reached, and offers to try again', async () => {
  await open({ ...NO_FLEET, server: 'tls://nats.example:4222', connection: 'lost', problem: 'The NATS server tls://nats.example:4222 cannot be used: connection refused.' })
  expect(wrapper.get('[role=alert]').text()).toContain('connection refused')
  expect(button('Run on the fleet…').attributes('disabled')).toBe('')
  await button('Try again').trigger('click')
  expect(calls('fleet:watch')).toHaveLength(2)
})

it('finds hosts and devices by what they are, do, and are called', () => {
  expect(fleetRows(FLEET, 'throttled').map(({ key }) => key)).toEqual(['n2', 'n2 cuda cuda:0'])
  expect(fleetRows(FLEET, 'n1 softmax')).toHaveLength(2)
  expect(fleetRows(FLEET, 'gone').map(({ kind }) => kind)).toEqual(['host', 'device'])
  expect(fleetRows(FLEET, 'nothing')).toEqual([])
  expect(fleetSentence({ hosts: [] })).toBe('0 hosts, 0 devices')
})
