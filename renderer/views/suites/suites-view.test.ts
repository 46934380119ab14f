import { flushPromises, mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, it } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import { installMockApi } from '../../dev/mock-api'
import { useDevices } from '../../stores/devices'
import { useSettings } from '../../stores/settings'
import SuitesView from './SuitesView.vue'

beforeEach(async () => {
  setActivePinia(createPinia())
  installMockApi({ empty: true })
  await useSettings().load()
  await useDevices().load()
})

it('narrows a suite by its batch, sequence and dimension before it is run, and keeps that when the page is left', async () => {
  const router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/', name: 'suites', component: SuitesView }, { path: '/r', name: 'run', component: SuitesView }, { path: '/s/:id', name: 'suite', component: SuitesView }] })
  const open = () => mount(SuitesView, { attachTo: document.body, global: { plugins: [router] } })
  const offerOf = (wrapper: ReturnType<typeof open>) => {
    const offer = wrapper.get('[aria-label^="Comprehensive"]')
    const cases = () => /Quick\s*(\d+ cases)/.exec(offer.text())?.[1]
    return { offer, cases, value: (text: string) => offer.findAll('[role=group] button').find((button) => button.text() === text)! }
  }
  let wrapper = open()
  await flushPromises()
  const { offer, cases, value } = offerOf(wrapper)
  expect(cases()).toBe('10 cases')
  await value('64').trigger('click')
  expect(cases()).toBe('5 cases')
  expect(offer.text()).toContain('dimension 512')
  await value('512').trigger('click')
  expect(offer.get('[role=alert]').text()).toBe('Dimension: pick at least one')
  expect(offer.findAll('button').find((button) => button.text() === 'Run')!.attributes('disabled')).toBe('')
  await value('512').trigger('click')
  wrapper.unmount()
  wrapper = open()
  await flushPromises()
  expect(offerOf(wrapper).cases()).toBe('5 cases')
  wrapper.unmount()
})
