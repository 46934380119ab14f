import { flushPromises, mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import { useNotices } from '../../stores/notices'
import ToastStack from './ToastStack.vue'

beforeEach(() => setActivePinia(createPinia()))

function shown() {
  const router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/:all(.*)', component: { template: '<div />' } }] })
  const wrapper = mount(ToastStack, { global: { plugins: [router] } })
  const press = async (name: string) => {
    await wrapper.findAll('button').find((button) => button.text() === name)!.trigger('click')
    await flushPromises()
  }
  return { router, wrapper, press }
}

it('opens the view that a message is about, and takes back what it tells of; either puts it away', async () => {
  const { router, wrapper, press } = shown()
  const undo = vi.fn(() => Promise.resolve())
  useNotices().show({ level: 'info', message: 'Imported “H200”.', open: '/session/abc' })
  useNotices().show({ level: 'info', message: 'Deleted “Nightly”.', undo })
  await flushPromises()
  await press('Open')
  expect([router.currentRoute.value.fullPath, wrapper.text()]).toEqual(['/session/abc', expect.not.stringContaining('Imported')])
  await press('Undo')
  expect(undo).toHaveBeenCalledOnce()
  expect(wrapper.findAll('[role=status]')).toHaveLength(0)
})

it('has neither for a message with nothing to open or take back', async () => {
  const { wrapper } = shown()
  useNotices().show({ level: 'error', message: 'Could not export.' })
  await flushPromises()
  expect(wrapper.findAll('button').map((button) => button.attributes('aria-label') ?? button.text())).toEqual(['Dismiss'])
  expect(wrapper.find('[role=alert]').text()).toContain('Could not export.')
})

it('takes an error away when another view opens, but not one that came with that view', async () => {
  const { router, wrapper } = shown()
  const now = vi.spyOn(performance, 'now').mockReturnValue(0)
  useNotices().show({ level: 'error', message: 'Import failed: broken.json' })
  now.mockReturnValue(5_000)
  useNotices().show({ level: 'error', message: 'Could not open the session.' })
  await router.push('/session/abc')
  await flushPromises()
  expect(wrapper.findAll('[role=alert]').map((alert) => alert.text())).toEqual(['Could not open the session.'])
  now.mockRestore()
})
