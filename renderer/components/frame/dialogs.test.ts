import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { installMockApi, type MockApi } from '../../dev/mock-api'
import { useApp } from '../../stores/app'
import { useExporting } from '../../stores/exporting'
import { useNotices } from '../../stores/notices'
import ExportDialog from './ExportDialog.vue'
import ShortcutsDialog from './ShortcutsDialog.vue'

let wrapper: VueWrapper
let opener: HTMLButtonElement
let api: MockApi
beforeEach(() => {
  setActivePinia(createPinia())
  api = installMockApi()
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
}

it('the list of shortcuts has the focus, so that arrow keys scroll it; Escape closes it and gives the focus back', async () => {
  wrapper = mount(ShortcutsDialog, { attachTo: document.body })
  useApp().shortcutsOpen = true
  await expect.poll(() => document.activeElement?.getAttribute('aria-label')).toBe('Commands and keys')
  await press('Escape')
  await expect.poll(() => useApp().shortcutsOpen).toBe(false)
  await expect.poll(dialog).toBeNull()
  await expect.poll(() => document.activeElement === opener).toBe(true)
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

it('formats of plain text have a button that copies them, to which the arrow keys lead, and a message says what was copied', async () => {
  wrapper = mount(ExportDialog, { attachTo: document.body })
  await useExporting().start()
  useExporting().asked = { id: 'session-2', name: 'A session' }
  await flushPromises()
  const row = (title: string) => [...dialog()!.querySelectorAll('li')].find((each) => each.querySelector('span')?.textContent === title)!
  const copyOf = (title: string) => row(title).querySelector<HTMLButtonElement>(`button[aria-label="Copy as ${title}"]`)
  for (const title of ['CSV', 'JSON', 'JSON Lines', 'Markdown']) expect(copyOf(title), title).not.toBeNull()
  for (const title of ['HTML', 'Suite picture']) expect(copyOf(title), title).toBeNull()
  row('CSV').querySelector('button')!.focus()
  await press('ArrowRight')
  await expect.poll(() => document.activeElement === copyOf('CSV')).toBe(true)
  ;(document.activeElement as HTMLElement).click()
  await flushPromises()
  expect(api.calls.at(-1)).toEqual({ channel: 'sessions:copy', request: { id: 'session-2', format: 'csv' } })
  expect(useNotices().notices.at(-1)).toMatchObject({ level: 'info', message: 'Copied as CSV (2.00 KiB).' })
  expect(dialog()).toBeNull()
})

it('a report is copied after what identifies the machine was looked at, without what is left out', async () => {
  wrapper = mount(ExportDialog, { attachTo: document.body })
  await useExporting().start()
  useExporting().asked = { id: 'session-2', name: 'A session' }
  await flushPromises()
  dialog()!.querySelector<HTMLButtonElement>('button[aria-label="Copy as Markdown"]')!.click()
  await flushPromises()
  await flushPromises()
  const submit = dialog()!.querySelector<HTMLButtonElement>('button[type=submit]')!
  expect(submit.textContent.trim()).toBe('Copy')
  submit.click()
  await flushPromises()
  expect(api.calls.at(-1)).toMatchObject({ channel: 'sessions:copy', request: { format: 'markdown', leaveOut: expect.arrayContaining(['host']) as string[] } })
})
