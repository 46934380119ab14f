import { mount } from '@vue/test-utils'
import { expect, it } from 'vitest'
import SplitPane from './SplitPane.vue'

it('takes its share from outside, tells when it is moved, and goes back on a double click', async () => {
  const wrapper = mount(SplitPane, { props: { label: 'Height', share: 0.6 } })
  const divider = wrapper.find('[role=separator]')
  expect(divider.attributes('aria-valuenow')).toBe('60')
  await divider.trigger('keydown', { key: 'ArrowDown' })
  await divider.trigger('dblclick')
  expect((wrapper.emitted('update:share') as [number][]).map(([share]) => Math.round(share * 100))).toEqual([64, 46])
})
