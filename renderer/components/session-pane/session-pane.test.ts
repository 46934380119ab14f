import { mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { expect, it, vi } from 'vitest'
import { defineComponent, h, nextTick } from 'vue'
import { createMemoryHistory, createRouter } from 'vue-router'
import type { Device } from '@core/backend'
import { testResult } from '@core/testing'
import { blockOf } from '@core/session/rows'
import { installMockApi } from '../../dev/mock-api'
import { useDevices } from '../../stores/devices'
import { ResultRows } from '../../stores/rows/result-rows'
import SessionPane from './SessionPane.vue'

vi.mock('../../charts/pane/ChartPane.vue', () => ({ __esModule: true, default: { render: () => null } }))
vi.mock('../result-detail/ResultDetail.vue', () => ({ __esModule: true, default: { render: () => h('article') } }))
const slots = defineComponent({ setup: (_, { slots }) => () => h('div', [slots['first']?.(), slots['second']?.()]) })

it('tells the findings whether a device of the session can be measured from here', async () => {
  setActivePinia(createPinia())
  installMockApi({ empty: true })
  await useDevices().load()
  const mounted = (devices: Device[]) => mount(SessionPane, {
    props: { rows: new ResultRows(), live: false, table: 'session', how: { preset: 'standard' as const }, findingsOpen: true, machine: { devices } },
    global: { plugins: [createRouter({ history: createMemoryHistory(), routes: [{ path: '/', component: slots }] })], stubs: { SplitPane: slots, ResultsTable: true, FindingsPanel: true } },
  }).getComponent({ name: 'FindingsPanel' }).props('elsewhere') as boolean
  const [here] = useDevices().available
  expect([mounted([here!]), mounted([{ ...here!, name: 'NVIDIA H300' }])]).toEqual([false, true])
})

it('shows the findings when asked for them beside open details, whether they were open below or not', async () => {
  setActivePinia(createPinia())
  installMockApi({ empty: true })
  const rows = new ResultRows()
  rows.append(blockOf([testResult({ id: 'r1' })], 0))
  const wrapper = mount(SessionPane, {
    props: { rows, live: false, table: 'session', how: { preset: 'standard' }, findingsOpen: false, 'onUpdate:findingsOpen': (open: boolean) => void wrapper.setProps({ findingsOpen: open }) },
    global: { plugins: [createRouter({ history: createMemoryHistory(), routes: [{ path: '/', component: slots }] })], stubs: { SplitPane: slots, ResultsTable: true, FindingsPanel: true } },
  })
  const shown = () => ['findings-panel-stub', 'article'].filter((name) => wrapper.find(name).exists())
  const open = () => wrapper.getComponent({ name: 'ResultsTable' }).vm.$emit('open', 'r1')
  for (const before of [false, true]) {
    await wrapper.setProps({ findingsOpen: before })
    open()
    await expect.poll(() => wrapper.find('article').exists()).toBe(true)
    expect(shown()).toEqual(['article'])
    // The button in the head of the session.
    await wrapper.setProps({ findingsOpen: !before })
    await nextTick()
    await nextTick()
    expect(shown()).toEqual(['findings-panel-stub'])
    expect(wrapper.props('findingsOpen')).toBe(true)
  }
  await wrapper.setProps({ findingsOpen: false })
  expect(shown()).toEqual([])
})
