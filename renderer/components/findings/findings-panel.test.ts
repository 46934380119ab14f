import { mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, it } from 'vitest'
import { defineComponent, h, nextTick, ref } from 'vue'
import { installMockApi } from '../../dev/mock-api'
import { provideCommand } from '../../commands/registry'
import FindingsPanel from './FindingsPanel.vue'

beforeEach(() => {
  setActivePinia(createPinia())
  installMockApi({ empty: true })
})

it.each(['by its button', 'by Escape'])('closed %s, gives the focus back to what opened it', async (how) => {
  const open = ref(false)
  const host = defineComponent({ setup: () => () => [h('button', { id: 'opener', onClick: () => (open.value = true) }), h('input', { id: 'other' }), open.value ? h(FindingsPanel, { findings: [], live: false, selected: new Set<string>(), judged: true, onClose: () => (open.value = false) }) : null] })
  const wrapper = mount(host, { attachTo: document.body })
  const opener = wrapper.get<HTMLButtonElement>('#opener')
  const show = async () => {
    opener.element.focus()
    await opener.trigger('click')
  }
  await show()
  const close = wrapper.get<HTMLButtonElement>('aside header button')
  close.element.focus()
  await close.trigger(how === 'by Escape' ? 'keydown' : 'click', how === 'by Escape' ? { key: 'Escape' } : {})
  expect(wrapper.find('aside').exists()).toBe(false)
  expect(document.activeElement).toBe(opener.element)
  // A focus that has gone elsewhere stays there.
  await show()
  wrapper.get<HTMLInputElement>('#other').element.focus()
  open.value = false
  await nextTick()
  expect(document.activeElement?.id).toBe('other')
  wrapper.unmount()
})

it('leads to the ceilings where efficiency is unavailable without them', async () => {
  const ran: string[] = []
  const end = provideCommand('view.devices', () => ran.push('devices'))
  const wrapper = mount(FindingsPanel, { props: { findings: [], live: false, selected: new Set<string>(), judged: false } })
  await wrapper.findAll('button').find((button) => button.text() === 'Measure ceilings…')!.trigger('click')
  expect(ran).toEqual(['devices'])
  // This machine cannot measure the ceilings of another.
  await wrapper.setProps({ elsewhere: true })
  expect(wrapper.text()).toContain('efficiency is unavailable')
  expect(wrapper.text()).not.toContain('Measure ceilings…')
  await wrapper.setProps({ judged: true, elsewhere: false })
  expect(wrapper.text()).not.toContain('Measure ceilings…')
  end()
})
