// @vitest-environment happy-dom
import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, it, vi } from 'vitest'
import { installMockApi } from '../dev/mock-api'
import { useNotices } from './notices'
import { useSessions } from './sessions'

beforeEach(() => setActivePinia(createPinia()))

it('names the files whose import failed, with the reasons behind them', async () => {
  const api = installMockApi({ empty: true })
  const invoke = api.invoke.bind(api)
  const failing = async (names: readonly string[]) => {
    vi.spyOn(api, 'invoke').mockImplementation((channel, request) => (channel === 'sessions:import' ? Promise.resolve({ ok: true, value: { sweeps: [], imported: [], warnings: [], problems: names.map((name) => `${name}: the file is empty`) } } as never) : invoke(channel, request)))
    await useSessions().importSessions()
    return useNotices().notices.at(-1)!
  }
  expect(await failing(['a.json', 'b.csv', 'c: d.txt'])).toMatchObject({ message: 'Import failed: a.json, b.csv, c: d.txt. Nothing was imported from these 3 files.', detail: 'a.json: the file is empty\nb.csv: the file is empty\nc: d.txt: the file is empty' })
  expect((await failing(['a.json', 'b.json', 'c.json', 'd.json', 'e.json'])).message).toBe('Import failed: a.json, b.json, c.json and 2 more. Nothing was imported from these 5 files.')
  expect((await failing(['a.json'])).message).toMatch(/^Import failed: a\.json: the file is empty\. /)
})
