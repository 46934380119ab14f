import { mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { expect, it } from 'vitest'
import { installMockApi } from '../../dev/mock-api'
import { useRun } from '../../stores/run'
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
