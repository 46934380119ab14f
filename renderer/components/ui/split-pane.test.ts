import { mount } from '@vue/test-utils'
import { expect, it } from 'vitest'
import { paneHeight } from '../../lib/pane-height'
import SplitPane from './SplitPane.vue'

it('keeps the least height of the second pane, and gives the first no more than it can use until the divider is moved', () => {
  const limits = { least: 300, leastSecond: 150, floor: 0, most: 400 }
  expect(paneHeight(0.5, { ...limits, moved: false })).toBe('min(max(50%, min(300px, 85%)), max(100% - 150px, min(0px, 85%)), 400px)')
  expect(paneHeight(0.6, { ...limits, moved: true })).toBe('min(max(60%, min(300px, 85%)), max(100% - 150px, min(0px, 85%)))')
})

/** Px of a height as CSS where percentages are of `whole`. */
function pxOf(css: string, whole: number): number {
  const numbers = css.replace(/([\d.]+)%/g, (_, percent: string) => String((Number(percent) * whole) / 100)).replace(/px/g, '')
  // Innermost first: a difference, then `min` or `max` of plain numbers.
  const step = (text: string): string => text.replace(/([\d.]+) - ([\d.]+)/g, (_, a: string, b: string) => String(Number(a) - Number(b))).replace(/(min|max)\(([-\d., ]+)\)/, (_, name: 'min' | 'max', list: string) => String(Math[name](...list.split(',').map(Number))))
  let text = numbers
  while (step(text) !== text) text = step(text)
  return Number(text)
}

it.each([
  [700, 350, 'its share where there is room'],
  [440, 290, 'its least height'],
  [400, 268, 'what the table leaves'],
  [346, 240, 'no less than its floor, even where the table has less than it wants'],
  [260, 221, 'no more than 85 %'],
])('of %i px gives a plot %i: %s', (whole, expected) => expect(pxOf(paneHeight(0.5, { least: 290, leastSecond: 132, floor: 240, moved: false }), whole)).toBe(expected))

it('takes its share from outside, tells when it is moved, and goes back on a double click', async () => {
  const wrapper = mount(SplitPane, { props: { label: 'Height', share: 0.6 } })
  const divider = wrapper.find('[role=separator]')
  expect(divider.attributes('aria-valuenow')).toBe('60')
  await divider.trigger('keydown', { key: 'ArrowDown' })
  await divider.trigger('dblclick')
  expect((wrapper.emitted('update:share') as [number][]).map(([share]) => Math.round(share * 100))).toEqual([64, 46])
})
