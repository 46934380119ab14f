import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { installMockApi } from '../../dev/mock-api'
import { useApp } from '../../stores/app'
import { useExporting } from '../../stores/exporting'
import ExportDialog from './ExportDialog.vue'
import ShortcutsDialog from './ShortcutsDialog.vue'

let wrapper: VueWrapper
let opener: HTMLButtonElement
beforeEach(() => {
  setActivePinia(createPinia())
  installMockApi()
  opener = document.body.appendChild(document.createElement('button'))
  opener.focus()
})
afterEach(() => {
  wrapper.unmount()
  opener.remove()
})

const dialog = () => document.querySelector('[role=dialog]')
async function press(key: string): Promise<void> {
  document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
  await flushPromises()
  await new Promise((done) => setTimeout(done, 20))
}

it('the list of shortcuts has the focus, so that arrow keys scroll it; Escape closes it and gives the focus back', async () => {
  wrapper = mount(ShortcutsDialog, { attachTo: document.body })
  useApp().shortcutsOpen = true
  await flushPromises()
  await new Promise((done) => setTimeout(done, 20))
  expect(document.activeElement?.getAttribute('aria-label')).toBe('Commands and keys')
  await press('Escape')
  expect(useApp().shortcutsOpen).toBe(false)
  expect(dialog()).toBeNull()
  expect(document.activeElement).toBe(opener)
})

it('command lines among the file formats are code that does not break, without their backticks', async () => {
  wrapper = mount(ExportDialog, { attachTo: document.body })
  await useExporting().start()
  useExporting().asked = { id: 'a', name: 'A session' }
  await flushPromises()
  const command = [...dialog()!.querySelectorAll('code')].find(({ textContent }) => textContent === 'bencher run --adapter json')!
  expect([...command.classList]).toContain('whitespace-nowrap')
  expect(dialog()!.textContent).not.toContain('`')
})
