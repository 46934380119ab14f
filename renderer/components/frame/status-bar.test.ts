import { mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { expect, it } from 'vitest'
import { installMockApi } from '../../dev/mock-api'
import { useRun } from '../../stores/run'
import { useSessions } from '../../stores/sessions'
import StatusBar from './StatusBar.vue'

it('separates the phase of a case from its samples', async () => {
  setActivePinia(createPinia())
  installMockApi({ empty: true })
  const wrapper = mount(StatusBar)
  const run = useRun()
  run.state = { ...run.state, phase: 'running', total: 3, currentPhase: 'sampling', samples: 9170 }
  await wrapper.vm.$nextTick()
  expect(wrapper.text()).toContain('sampling, 9,170 samples')
})

it('says how many cases of a stopped run were measured, and how many of the results failed', async () => {
  setActivePinia(createPinia())
  installMockApi()
  const wrapper = mount(StatusBar)
  const sessions = useSessions()
  await sessions.load()
  const { id } = sessions.list[0]!
  sessions.list = sessions.list.map((session) => (session.id === id ? { ...session, planned: 44 } : session))
  useRun().ended = { sessionId: id, state: 'stopped', failures: 0, rows: 32 }
  await wrapper.vm.$nextTick()
  expect(wrapper.get('[role=status]').text()).toBe('Stopped: 32 of 44 cases.')
  useRun().ended = { sessionId: id, state: 'done', failures: 8, rows: 10 }
  await wrapper.vm.$nextTick()
  expect(wrapper.get('[role=status]').text()).toBe('Finished: 10 results, 8 of them failed.')
  useRun().ended = { sessionId: id, state: 'done', failures: 8, outOfMemory: 3, rows: 10 }
  await wrapper.vm.$nextTick()
  expect(wrapper.get('[role=status]').text()).toBe('Finished: 10 results, 8 of them failed (3 out of memory: the reason in the row says what fits).')
})

it('can be paused from the first case on, not while it starts', async () => {
  setActivePinia(createPinia())
  installMockApi({ empty: true })
  const wrapper = mount(StatusBar)
  const run = useRun()
  const disabled = async (phase: 'starting' | 'running' | 'paused' | 'stopping') => {
    run.state = { ...run.state, phase, total: 3 }
    await wrapper.vm.$nextTick()
    return wrapper.findAll('button')[0]!.attributes('disabled') !== undefined
  }
  expect([await disabled('starting'), await disabled('running'), await disabled('paused'), await disabled('stopping')]).toEqual([true, false, false, true])
})
