import { mount } from '@vue/test-utils'
import { expect, it } from 'vitest'
import { paneHeight } from '../../lib/pane-height'
import SplitPane from './SplitPane.vue'

it('keeps the least height of the second pane, and gives the first no more than it can use until the divider is moved', () => {
  const limits = { least: 300, leastSecond: 150, most: 400 }
  expect(paneHeight(0.5, { ...limits, moved: false })).toBe('min(max(50%, min(300px, 85%)), calc(100% - 150px), 400px)')
  expect(paneHeight(0.6, { ...limits, moved: true })).toBe('min(max(60%, min(300px, 85%)), calc(100% - 150px))')
})

it('takes its share from outside, tells when it is moved, and goes back on a double click', async () => {
  const wrapper = mount(SplitPane, { props: { label: 'Height', share: 0.6 } })
  const divider = wrapper.find('[role=separator]')
  expect(divider.attributes('aria-valuenow')).toBe('60')
  await divider.trigger('keydown', { key: 'ArrowDown' })
  await divider.trigger('dblclick')
  expect((wrapper.emitted('update:share') as [number][]).map(([share]) => Math.round(share * 100))).toEqual([64, 46])
})
