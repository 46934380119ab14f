import { flushPromises, mount } from '@vue/test-utils'
import { expect, it, onTestFinished } from 'vitest'
import { h } from 'vue'
import { keepKeys } from '../../lib/focus'
import UiPopover from './UiPopover.vue'

it('with a field keeps what is typed there from the app, and closes on Escape', async () => {
  const heard: string[] = []
  const listen = ({ key }: KeyboardEvent) => void heard.push(key)
  window.addEventListener('keydown', listen)
  const wrapper = mount(UiPopover, { attachTo: document.body, props: { title: 'Notes' }, slots: { trigger: () => h('button', 'Notes'), default: () => h('input', { onKeydown: keepKeys }) } })
  onTestFinished(() => {
    window.removeEventListener('keydown', listen)
    wrapper.unmount()
  })
  await wrapper.get('button').trigger('click')
  await flushPromises()
  const field = document.querySelector('[role=dialog] input')!
  for (const key of ['a', 'Escape']) field.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
  await expect.poll(() => document.querySelector('[role=dialog]')).toBeNull()
  expect(heard).toEqual(['Escape'])
})
