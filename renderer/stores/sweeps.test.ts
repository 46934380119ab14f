// @vitest-environment happy-dom
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { installMockApi, type MockApi } from '../dev/mock-api'
import { useDevices } from './devices'
import { useNotices } from './notices'
import { usePicks } from './picks'
import { useSettings } from './settings'
import { useSweeps } from './sweeps'

let api: MockApi
beforeEach(() => {
  vi.useFakeTimers()
  setActivePinia(createPinia())
  api = installMockApi({ empty: true })
})
afterEach(() => {
  vi.useRealTimers()
})

async function ready() {
  await useSettings().load()
  await useDevices().load()
  const picks = usePicks()
  await vi.runAllTimersAsync()
  return { picks, sweeps: useSweeps(), notices: useNotices() }
}
const names = (sweeps: ReturnType<typeof useSweeps>) => sweeps.saved.map(({ name }) => name)

describe('saved sweeps', () => {
  it('keep the picks under a name, which main stores, and bring them back', async () => {
    const { picks, sweeps } = await ready()
    picks.change({ ops: [{ op: 'gelu' }], dtypes: ['bf16'], repeats: 2 })
    expect(sweeps.save(' my gelu ')).toBe(true)
    expect(sweeps.current).toBe('my gelu')
    await vi.runAllTimersAsync()
    const stored = await api.invoke('settings:get', undefined)
    expect(stored.ok && stored.value.savedSweeps?.map(({ name, spec }) => [name, spec.ops, spec.repeats])).toEqual([['my gelu', [{ op: 'gelu' }], 2]])
    picks.change({ ops: [{ op: 'add' }], repeats: undefined })
    expect([sweeps.current, sweeps.saved[0]!.spec.ops]).toEqual([undefined, [{ op: 'gelu' }]])
    sweeps.load(sweeps.saved[0]!.spec, '“my gelu”')
    expect([picks.spec!.ops, picks.spec!.repeats, sweeps.current]).toEqual([[{ op: 'gelu' }], 2, 'my gelu'])
  })

  it('are loaded, replaced and deleted with Undo', async () => {
    const { picks, sweeps, notices } = await ready()
    picks.change({ ops: [{ op: 'gelu' }] })
    sweeps.save('a')
    picks.change({ ops: [{ op: 'add' }] })
    sweeps.load(sweeps.saved[0]!.spec, '“a”')
    await notices.undo()
    expect(picks.spec!.ops).toEqual([{ op: 'add' }])
    sweeps.save('a')
    expect(sweeps.saved[0]!.spec.ops).toEqual([{ op: 'add' }])
    await notices.undo()
    expect(sweeps.saved[0]!.spec.ops).toEqual([{ op: 'gelu' }])
    sweeps.remove('a')
    expect(names(sweeps)).toEqual([])
    await notices.undo()
    expect(names(sweeps)).toEqual(['a'])
  })

  it('are renamed, unless the name is taken', async () => {
    const { sweeps, notices } = await ready()
    sweeps.save('a')
    sweeps.save('b')
    expect(sweeps.rename('a', 'b')).toBe(false)
    expect(notices.notices.at(-1)).toMatchObject({ level: 'error', message: 'There is already a saved sweep named “b”.' })
    expect(sweeps.rename('a', 'c')).toBe(true)
    expect(names(sweeps)).toEqual(['b', 'c'])
  })
})

describe('sweeps run last', () => {
  it('are kept newest first, without those that have a name', async () => {
    const { picks, sweeps } = await ready()
    for (const op of ['add', 'exp', 'add']) {
      picks.change({ ops: [{ op }] })
      sweeps.ran(picks.spec!)
    }
    expect(sweeps.recent.map(({ ops }) => ops[0]!.op)).toEqual(['add', 'exp'])
    sweeps.save('sums')
    expect(sweeps.recent.map(({ ops }) => ops[0]!.op)).toEqual(['exp'])
  })
})
