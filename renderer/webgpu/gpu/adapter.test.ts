import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { distinctChoices, findAdapter, largestWorkgroup, openDevice, SUBGROUP_MATRIX, type DeviceOptions } from './adapter'
import { matricesFor } from './subgroups'

const offering = (requestAdapter: () => Promise<unknown>) => vi.stubGlobal('navigator', { gpu: { requestAdapter } })

describe('findAdapter', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })

  it('asks again while Chromium has none yet', async () => {
    const adapter = {}
    let asked = 0
    offering(() => Promise.resolve(++asked < 4 ? null : adapter))
    const found = findAdapter()
    await vi.advanceTimersByTimeAsync(5000)
    expect(await found).toBe(adapter)
    expect(asked).toBe(4)
  })

  it('gives up after ten seconds, with the browser\'s words where it has any', async () => {
    offering(() => Promise.reject(new Error('the GPU process crashed too often')))
    let ended = false
    const found = findAdapter().finally(() => (ended = true))
    await vi.advanceTimersByTimeAsync(9000)
    expect(ended).toBe(false)
    await vi.advanceTimersByTimeAsync(2000)
    expect(await found).toEqual({ reason: expect.stringContaining('no WebGPU adapter in 10 s (the GPU process crashed too often)') })
  })

  it('does not wait where there is no WebGPU at all', async () => {
    vi.stubGlobal('navigator', {})
    expect(await findAdapter()).toEqual({ reason: expect.stringContaining('no WebGPU') })
  })
})

describe('openDevice', () => {
  const asked = async (options: DeviceOptions) => {
    let features: unknown
    const adapter = { features: new Set(['subgroups', SUBGROUP_MATRIX, 'depth-clip-control']), limits: {}, requestDevice: (given: GPUDeviceDescriptor) => ((features = given.requiredFeatures), Promise.resolve({})) }
    await openDevice(adapter as unknown as GPUAdapter, options)
    return features
  }
  it('asks for what the adapter has and kernels use, and for less where a test wants it', async () => {
    expect([await asked({}), await asked({ matrices: 'off' }), await asked({ subgroups: 'off' })]).toEqual([['subgroups', SUBGROUP_MATRIX], ['subgroups'], []])
  })
})

describe('matricesFor', () => {
  const words = (max: number) => ({ subgroupMinSize: 32, subgroupMaxSize: max, subgroupMatrixConfigs: [['f16', 'f16', 16], ['f16', 'f32', 16], ['u8', 'u32', 32], ['i8', 'i32', 32]].map(([componentType, resultComponentType, K]) => ({ componentType: String(componentType), resultComponentType: String(resultComponentType), M: 16, N: 8, K: Number(K) })) })
  const features = new Set(['subgroups', SUBGROUP_MATRIX])
  it('has those with exact sums where all subgroups are of one size', () => {
    const [f16, i8] = [{ component: 'f16', result: 'f32', m: 16, n: 8, k: 16 }, { component: 'i8', result: 'i32', m: 16, n: 8, k: 32 }]
    expect(matricesFor(features, words(32), 32)).toEqual([f16, i8])
    expect([matricesFor(features, words(64), 32), matricesFor(features, words(32), undefined), matricesFor(new Set(['subgroups']), words(32), 32), matricesFor(features, { subgroupMaxSize: 32 }, 32)]).toEqual([undefined, undefined, undefined, undefined])
  })
})

describe('distinctChoices', () => {
  afterEach(() => void vi.unstubAllGlobals())
  const adapters = (of: (options: GPURequestAdapterOptions) => string | null) =>
    vi.stubGlobal('navigator', { gpu: { requestAdapter: (options: GPURequestAdapterOptions) => { const description = of(options); return Promise.resolve(description === null ? null : { info: { description } }) } } })
  const ids = async () => (await distinctChoices()).map(({ id }) => id)

  it('has an entry for each adapter that the browser tells apart', async () => {
    adapters(({ powerPreference, forceFallbackAdapter }) => (forceFallbackAdapter ? 'SwiftShader' : powerPreference === 'low-power' ? 'Integrated' : 'Card'))
    expect(await ids()).toEqual(['webgpu:0', 'webgpu:low-power', 'webgpu:fallback'])
  })

  it('has one entry where every wish leads to the same adapter', async () => {
    adapters(() => 'SwiftShader')
    expect(await ids()).toEqual(['webgpu:0'])
  })

  it('leaves out what the browser does not have', async () => {
    adapters(({ powerPreference }) => (powerPreference ? `${powerPreference} GPU` : null))
    expect(await ids()).toEqual(['webgpu:0', 'webgpu:low-power'])
  })
})

describe('largestWorkgroup', () => {
  it('is a power of two within the limits of the device, and no more than 1024', () => {
    const threads = (invocations: number, wide: number, bytes = 32768) =>
      largestWorkgroup({ maxComputeInvocationsPerWorkgroup: invocations, maxComputeWorkgroupSizeX: wide, maxComputeWorkgroupStorageSize: bytes })
    expect([threads(256, 256), threads(1000, 1024), threads(1024, 1024), threads(2048, 1536)]).toEqual([256, 512, 1024, 1024])
    expect([threads(256, 256, 16384), threads(1024, 1024, 16384)]).toEqual([256, 512])
  })
})
