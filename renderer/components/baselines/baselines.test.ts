import { flushPromises, mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, it } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import type { BaselineCheck } from '@core/compare/pinned'
import { installMockApi, type MockApi } from '../../dev/mock-api'
import { useBaselines } from '../../stores/baselines'
import { useNotices } from '../../stores/notices'
import BaselineMark from './BaselineMark.vue'

let api: MockApi
beforeEach(async () => {
  setActivePinia(createPinia())
  api = installMockApi({ empty: true })
  await useBaselines().start()
})

const check: BaselineCheck = { sessionId: 'new', project: 'nightly', baselineId: 'old', cases: 48, slower: 3, faster: 1, unclear: 2, wrong: 0, slowest: [{ what: 'softmax 4096x4096 f32 cuda kernel cold', speedup: 1 / 1.2 }] }
const mark = (id: string) => mount(BaselineMark, { props: { id, linked: true }, global: { plugins: [createRouter({ history: createMemoryHistory(), routes: [{ path: '/:all(.*)', component: BaselineMark }] })] } })

it('pins, renames and unpins a session, each with Undo', async () => {
  const baselines = useBaselines()
  const pins = () => baselines.pins.map(({ name, sessionId }) => [name, sessionId])
  await baselines.toggle({ id: 'old', name: 'nightly' })
  expect([pins(), mark('old').text()]).toEqual([[['nightly', 'old']], 'Baseline of “nightly”'])
  await baselines.pin({ id: 'new', name: 'nightly' })
  expect(pins()).toEqual([['nightly', 'new']])
  await useNotices().undo()
  expect(pins()).toEqual([['nightly', 'old']])
  await baselines.rename('nightly', 'weekly')
  await baselines.toggle({ id: 'old', name: 'nightly' })
  expect(pins()).toEqual([])
  await useNotices().undo()
  expect(pins()).toEqual([['weekly', 'old']])
})

it('alerts when a finished session has slower cases, and marks the session with a link to the comparison', async () => {
  api.emit('baselines:changed', { pins: [], checks: [check] })
  api.emit('baselines:checked', check)
  await flushPromises()
  expect(useNotices().notices.at(-1)).toMatchObject({ level: 'warning', message: '3 cases slower, 1 faster than the baseline of “nightly” (48 compared).', detail: 'softmax 4096x4096 f32 cuda kernel cold: 1.20x slower', open: '/compare?ids=old,new' })
  const shown = mark('new')
  expect([shown.text(), shown.find('a').attributes('href')]).toEqual(['▼ 3 slower ▲ 1 faster', '/compare?ids=old,new'])
  expect(mark('other').text()).toBe('')
})
