import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import { installMockApi, type MockApi } from '../../dev/mock-api'
import { dropTarget } from '../../lib/drop-target'
import { useSessions } from '../../stores/sessions'
import { useSettings } from '../../stores/settings'
import CompareView from './CompareView.vue'

// There is no canvas here; what is drawn is tested in renderer/charts/forest.
vi.mock('vue-echarts', () => ({ default: { name: 'VChart', render: () => null } }))

let api: MockApi
let wrapper: VueWrapper
beforeEach(async () => {
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(600)
  setActivePinia(createPinia())
  api = installMockApi({ pace: 1 })
  await useSettings().load()
  await useSessions().load()
})
afterEach(() => {
  wrapper.unmount()
  vi.restoreAllMocks()
})

async function open(path: string): Promise<void> {
  const router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/compare', name: 'compare', component: CompareView }, { path: '/history', name: 'history', component: { render: () => null } }] })
  await router.push(path)
  wrapper = mount(CompareView, { global: { plugins: [router] }, attachTo: document.body })
  await flushPromises()
  await flushPromises()
}
const rows = () => wrapper.findAll('[role=rowgroup] [role=row]')

describe('files', () => {
  const file = (name: string) => new File(['{}'], name)

  it('dropped on the view are compared and not imported', async () => {
    await open('/compare?ids=session-1')
    await dropTarget()!.take([file('nightly.json'), file('notes.txt')])
    await flushPromises()
    expect(api.calls.filter(({ channel }) => channel === 'sessions:import-dropped')).toEqual([])
    expect(wrapper.find('[title="nightly.json, not imported"]').text()).toBe('file')
    expect(rows().length).toBeGreaterThan(10)
    await wrapper.find('[aria-label^="Remove In nightly.json"]').trigger('click')
    expect(api.calls.some(({ channel }) => channel === 'compare:forget-files')).toBe(true)
  })

  it('go to the importer again when the view is left', async () => {
    await open('/compare')
    expect(dropTarget()?.about).toContain('without importing')
    wrapper.unmount()
    expect(dropTarget()).toBeUndefined()
    wrapper = mount({ render: () => null })
  })
})
