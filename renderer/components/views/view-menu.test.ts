import { mount, type VueWrapper } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { View } from '@core/session/saved/views'
import { runCommand } from '../../commands/registry'
import { installMockApi, type MockApi } from '../../dev/mock-api'
import { useNotices } from '../../stores/notices'
import { useSettings } from '../../stores/settings'
import { useViews } from '../../stores/views'
import ViewMenu from './ViewMenu.vue'

let api: MockApi
let wrapper: VueWrapper
beforeEach(async () => {
  vi.useFakeTimers()
  setActivePinia(createPinia())
  api = installMockApi({ empty: true })
  await useSettings().load()
})
afterEach(() => {
  wrapper.unmount()
  vi.useRealTimers()
  document.body.innerHTML = ''
})

const compareView = (search: string): View => ({ of: 'compare', search, order: 'measured', shown: 'all' })

/** The menu beside something whose state is one text. */
function open() {
  const shown = { search: 'softmax' }
  const viewed = { of: 'compare' as const, read: () => ({ view: compareView(shown.search), about: `with ${shown.search}` }), show: (view: View) => void (shown.search = view.of === 'compare' ? view.search : '') }
  wrapper = mount(ViewMenu, { attachTo: document.body, props: { viewed } })
  const entries = () => [...document.querySelectorAll<HTMLElement>('[data-testid=view-list] button[data-entry]')]
  return { shown, entries, views: useViews(), notices: useNotices() }
}
const tick = () => vi.advanceTimersByTimeAsync(500)

it('is opened by its command, saves under the typed name, and shows that view again with Undo', async () => {
  const { shown, entries } = open()
  expect(runCommand('view.saved')).toBe(true)
  await tick()
  expect(document.body.textContent).toContain('None yet')
  const field = document.querySelector<HTMLInputElement>('[data-testid=view-list] input')!
  expect(document.activeElement).toBe(field)
  field.value = ' only softmax '
  field.dispatchEvent(new Event('input'))
  document.querySelector('[data-testid=view-list] form')!.dispatchEvent(new Event('submit', { cancelable: true }))
  await tick()
  const stored = await api.invoke('settings:get', undefined)
  expect(stored.ok && stored.value.savedViews).toEqual([{ name: 'only softmax', about: 'with softmax', view: compareView('softmax') }])
  shown.search = 'gelu'
  runCommand('view.saved')
  await tick()
  entries()[0]!.click()
  await tick()
  expect(shown.search).toBe('softmax')
  await useNotices().undo()
  expect(shown.search).toBe('gelu')
})

it('replaces, renames and deletes, each with Undo where something is lost', async () => {
  const { shown, views, notices } = open()
  const names = () => views.saved.map(({ name }) => name)
  views.save('a')
  shown.search = 'gelu'
  views.save('a')
  expect(views.saved[0]!.view).toEqual(compareView('gelu'))
  await notices.undo()
  expect(views.saved[0]!.view).toEqual(compareView('softmax'))
  views.save('b')
  expect(views.rename('a', 'b')).toBe(false)
  expect([notices.notices.at(-1)!.message, names()]).toEqual(['There is already a saved view named “b”.', ['a', 'b']])
  expect(views.rename('a', 'c')).toBe(true)
  views.remove('b')
  expect(names()).toEqual(['c'])
  await notices.undo()
  expect(names()).toEqual(['b', 'c'])
})

it('lists what fits what is on show, and nothing once that is gone', () => {
  const { views } = open()
  useSettings().set({ savedViews: [{ name: 'charts', about: '', view: { of: 'session', table: { quick: '', filtering: false, filters: {}, sorts: [], columns: [] } } }, { name: 'mine', about: '', view: compareView('x') }] })
  expect(views.saved.map(({ name }) => name)).toEqual(['mine'])
  wrapper.unmount()
  expect([views.saved, runCommand('view.saved')]).toEqual([[], false])
})
