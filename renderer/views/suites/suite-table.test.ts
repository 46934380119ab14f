import { mount } from '@vue/test-utils'
import { afterEach, expect, it, vi } from 'vitest'
import { nextTick } from 'vue'
import SuiteTable from './SuiteTable.vue'

/** Tells the table whether an element of it is in sight. */
const seen = new Map<Element, (isIntersecting: boolean) => void>()
class Observer {
  constructor(private readonly tell: (entries: { isIntersecting: boolean }[]) => void) {}
  observe(element: Element) {
    seen.set(element, (isIntersecting) => this.tell([{ isIntersecting }]))
  }
  disconnect() {}
}
afterEach(() => {
  vi.unstubAllGlobals()
  seen.clear()
})

it('a table wider than the report keeps its first column in sight, and shows that columns follow for as long as they do', async () => {
  vi.stubGlobal('IntersectionObserver', Observer)
  const table = { heads: [{ title: 'case' }, { title: 'median', numeric: true }], rows: [[{ text: 'add 64' }, { text: '1 µs' }]] }
  const wrapper = mount(SuiteTable, { props: { table, filter: '', sessionId: 's', label: 'Times', scroller: document.body }, global: { stubs: { RouterLink: true } }, attachTo: document.body })
  await nextTick()
  const more = () => wrapper.find('[data-testid=more-columns]')
  const tell = async (isIntersecting: boolean) => {
    // The right edge is the last that is looked at.
    ;[...seen.values()].at(-1)!(isIntersecting)
    await nextTick()
  }
  for (const cell of [wrapper.get('th'), wrapper.get('td')]) expect(cell.classes()).toEqual(expect.arrayContaining(['sticky', 'left-0', 'bg-panel']))
  expect(wrapper.findAll('td')[1]!.classes()).not.toContain('sticky')
  expect(more().exists()).toBe(false)
  await tell(false)
  await more().trigger('click')
  expect(wrapper.emitted('more')).toHaveLength(1)
  await tell(true)
  expect(more().exists()).toBe(false)
  wrapper.unmount()
})
