import { flushPromises, mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, it } from 'vitest'
import { installMockApi, type MockApi } from '../../dev/mock-api'
import { useApp } from '../../stores/app'
import { useNotices } from '../../stores/notices'
import UnfinishedNote from './UnfinishedNote.vue'

let api: MockApi
beforeEach(() => {
  setActivePinia(createPinia())
  api = installMockApi({ interrupted: true })
})

it('a session that was cut off can be left until the next start, or kept as it is for good', async () => {
  const app = useApp()
  await app.start()
  const [session] = app.interrupted
  const note = () => mount(UnfinishedNote, { props: { session: session! } })
  const press = async (words: string) => {
    await note().findAll('button').find((button) => button.text() === words)!.trigger('click')
    await flushPromises()
  }
  await press('Not now')
  expect(app.interrupted).toEqual([])
  expect(api.calls.map(({ channel }) => channel)).not.toContain('sessions:end')

  setActivePinia(createPinia())
  await useApp().start()
  await press('Keep as is')
  expect(api.calls.at(-1)).toMatchObject({ channel: 'sessions:end', request: { id: session!.id } })
  expect(useApp().interrupted).toEqual([])
  expect(useNotices().notices.at(-1)?.message).toBe(`“${session!.name}” counts as stopped early. History can still resume it.`)
})
