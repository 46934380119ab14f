import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { distinctChoices, findAdapter, largestWorkgroup, offersSubgroupMatrices } from './adapter'

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

describe('offersSubgroupMatrices', () => {
  it('goes by the features of the adapter, with the prefix of an experiment or without', () => {
    expect([['subgroups', 'timestamp-query'], ['chromium-experimental-subgroup-matrix'], ['subgroup-matrix'], []].map(offersSubgroupMatrices)).toEqual([false, true, true, false])
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
