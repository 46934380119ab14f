// @vitest-environment happy-dom
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { installMockApi, type MockApi } from '../dev/mock-api'
import { useDevices } from './devices'
import { usePicks } from './picks'
import { useSettings } from './settings'

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
  const settings = useSettings()
  await settings.load()
  await useDevices().load()
  const picks = usePicks()
  await vi.runAllTimersAsync()
  return picks
}

describe('the picks', () => {
  it('start with something that can be run as it is', async () => {
    const picks = await ready()
    expect(picks.plan.problems).toEqual([])
    expect(picks.plan.cases.length).toBeGreaterThan(10)
    expect(picks.seconds).toBeGreaterThan(0)
  })

  it('come back from the settings, without what this machine no longer has', async () => {
    await api.invoke('settings:set', {
      sweep: {
        ops: [{ op: 'gelu' }], sizes: { vector: '2^20', matrix: '1024', gemm: '256' }, dtypes: ['f32'], modes: ['hot'], preset: 'thorough',
        targets: [{ backend: 'cuda', device: 'cuda:7', impls: ['kernel'] }, { backend: 'cuda', device: 'cuda:0', impls: ['kernel', 'cublas'] }],
      },
    })
    const picks = await ready()
    expect(picks.spec?.preset).toBe('thorough')
    expect(picks.runnable?.targets).toEqual([{ backend: 'cuda', device: 'cuda:0', impls: ['kernel'] }])
    expect(picks.plan.problems).toEqual([])
    expect(picks.plan.cases.map((c) => c.impl)).toEqual(['kernel'])
  })

  it('are written to the settings, and counted again after a change', async () => {
    const picks = await ready()
    const before = picks.plan.cases.length
    picks.change({ dtypes: ['f32', 'bf16'] })
    await vi.runAllTimersAsync()
    expect(picks.plan.cases.length).toBeGreaterThan(before)
    expect(picks.plan.skipped.some((entry) => entry.backend === 'webgpu' && entry.dtype === 'bf16')).toBe(true)
    const saved = await api.invoke('settings:get', undefined)
    expect(saved.ok && saved.value.sweep?.dtypes).toEqual(['f32', 'bf16'])
  })

  it('name the size preset in use and forget it when a size is edited', async () => {
    const picks = await ready()
    picks.useSizes('medium')
    expect(picks.sizePreset).toBe('medium')
    picks.change({ sizes: { ...picks.spec!.sizes, vector: '12345' } })
    expect(picks.sizePreset).toBeUndefined()
  })

  it('have sizes for an operation whose form had none, and keep a text that was emptied', async () => {
    const picks = await ready()
    picks.load({ ...picks.spec!, ops: [{ op: 'add' }], sizes: { vector: '64' } })
    picks.change({ ops: [{ op: 'add' }, { op: 'matmul' }] })
    expect(picks.spec!.sizes).toEqual({ vector: '64', gemm: expect.stringMatching(/\d/) })
    picks.change({ sizes: { vector: '64', gemm: '' } })
    expect(picks.spec!.sizes).toEqual({ vector: '64', gemm: '' })
  })

  it('can be changed before a device is known, and take each device in as it is found', async () => {
    const invoke = api.invoke.bind(api)
    let answer = () => {}
    const asked = new Promise<void>((resolve) => (answer = resolve))
    api.invoke = async (channel, request) => {
      if (channel === 'devices:list') await asked
      return invoke(channel, request)
    }
    await useSettings().load()
    const devices = useDevices()
    devices.start()
    const picks = usePicks()
    await vi.runAllTimersAsync()
    picks.change({ ops: [{ op: 'gelu' }] })
    expect(picks.plan.problems).toEqual([])
    const all = await invoke('devices:list', { refresh: false })
    if (!all.ok) throw new Error(all.error.message)
    api.emit('devices:changed', all.value.filter((device) => device.backend === 'cpu'))
    await vi.runAllTimersAsync()
    expect(picks.spec?.targets.map((target) => target.backend)).toEqual(['cpu'])
    expect(devices.awaited).toEqual(['cuda', 'webgpu', 'python'])
    expect(picks.plan.cases.length).toBeGreaterThan(0)
    answer()
    await vi.runAllTimersAsync()
    expect(picks.spec?.ops).toEqual([{ op: 'gelu' }])
    expect(picks.spec?.targets.map((target) => target.backend)).toEqual(['cuda', 'webgpu', 'cpu'])
    expect(devices.awaited).toEqual([])
  })

  it('drop a device with its last implementation', async () => {
    const picks = await ready()
    const cpu = useDevices().devices.find((device) => device.id === 'cpu')!
    picks.setTarget(cpu, { impls: [] })
    expect(picks.targetOf(cpu)).toBeUndefined()
    picks.setTarget(cpu, { impls: ['avx2'], threads: [8] })
    expect(picks.targetOf(cpu)).toMatchObject({ impls: ['avx2'], threads: [8] })
    expect(picks.spec?.targets.map((target) => target.backend)).toEqual(['cuda', 'webgpu', 'cpu'])
  })
})
