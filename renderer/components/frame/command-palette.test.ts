import { flushPromises, mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import { provideCommand } from '../../commands/registry'
import { installMockApi } from '../../dev/mock-api'
import { useApp } from '../../stores/app'
import { useSessions } from '../../stores/sessions'
import CommandPalette from './CommandPalette.vue'

const ran: string[] = []
let ends: (() => void)[] = []
const Empty = { template: '<div />' }

async function open() {
  const router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/', component: Empty }, { path: '/session/:id?', name: 'session', component: Empty }] })
  const wrapper = mount(CommandPalette, { attachTo: document.body, global: { plugins: [router] } })
  await useSessions().load()
  useApp().paletteOpen = true
  await flushPromises()
  return { wrapper, router }
}
const options = () => [...document.querySelectorAll('[role=option]')].map((option) => option.textContent ?? '')
const input = () => document.querySelector<HTMLInputElement>('[role=combobox]')!

async function type(text: string): Promise<void> {
  input().value = text
  input().dispatchEvent(new Event('input'))
  await flushPromises()
}
async function press(key: string): Promise<void> {
  input().dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
  await flushPromises()
}

beforeEach(() => {
  setActivePinia(createPinia())
  installMockApi()
  ran.length = 0
  ends = [provideCommand('run.start', () => ran.push('run.start')), provideCommand('run.stop', () => ran.push('run.stop'), () => false), provideCommand('view.devices', () => ran.push('view.devices'))]
})
afterEach(() => {
  ends.forEach((end) => end())
  document.body.innerHTML = ''
})

describe('CommandPalette', () => {
  it('lists what can be done now, with its keys, and the saved sessions', async () => {
    const { wrapper } = await open()
    expect(options().some((text) => text.includes('Run') && text.includes('Ctrl+Enter'))).toBe(true)
    expect(options().some((text) => text.includes('Stop'))).toBe(false)
    expect(options().some((text) => text.includes('Open Driver 570'))).toBe(true)
    wrapper.unmount()
  })

  it('runs the best match with Enter and closes', async () => {
    const { wrapper } = await open()
    await type('devi')
    await press('Enter')
    expect(ran).toEqual(['view.devices'])
    expect(useApp().paletteOpen).toBe(false)
    wrapper.unmount()
  })

  it('opens a session by name', async () => {
    const { wrapper, router } = await open()
    await type('driver 570')
    await press('Enter')
    expect(router.currentRoute.value.params.id).toBe('session-2')
    wrapper.unmount()
  })

  it('says so when nothing fits', async () => {
    const { wrapper } = await open()
    await type('zzzz')
    expect(document.body.textContent).toContain('Nothing is called “zzzz”')
    await press('Enter')
    expect(ran).toEqual([])
    wrapper.unmount()
  })
})
