import { problemOf, type PreparedCase } from '@core/backend'
import type { Mode } from '@core/case'
import { getOp } from '@core/ops/registry'
import { describe, expect, it } from 'vitest'
import { nativeBackends } from '../../main/backends/native'
import { checkDropoutMask, checkInputs, checkKernels, supportTable } from './harness'

const { backends, problem } = nativeBackends()
const cuda = backends.find((backend) => backend.id === 'cuda')
const devices = cuda ? await cuda.devices() : []
const device = devices.find((candidate) => candidate.available.ok)
const missing = device ? undefined : (devices.flatMap((d) => (d.available.ok ? [] : [d.available.reason]))[0] ?? problem ?? 'the addon has no CUDA backend')

describe('cuda devices', () => {
  it.skipIf(!cuda)('are each usable, or listed with a whole sentence that says why not', () => {
    expect(devices.length).toBeGreaterThan(0)
    for (const [index, d] of devices.entries()) {
      expect(d).toMatchObject({ backend: 'cuda', id: `cuda:${index}` })
      if (!d.available.ok) expect(d.available.reason).toMatch(/^[A-Z].{20,}\.$/s)
    }
  })

  it.skipIf(!cuda || device !== undefined)('that are missing refuse a case with the same reason', async () => {
    const made = problemOf(getOp('add'), { op: 'add', params: { n: 10 }, dtype: 'f32', backend: 'cuda', impl: 'kernel', device: 'cuda:0', mode: 'hot' }, 1)
    await expect(cuda?.open(made)).rejects.toMatchObject({ code: 'unsupported', message: missing })
  })
})

if (!cuda || !device) {
  describe.skip(`cuda kernels (skipped: ${missing})`, () => it('need a GPU', () => undefined))
} else {
  console.info(`Kernels of ${device.name}\n${supportTable(device)}`)
  checkKernels(cuda, device, { large: true })
  checkInputs(cuda, device, ['f32', 'f16', 'bf16'])
  checkDropoutMask(cuda, device, ['f32', 'f16', 'bf16'])

  const open = (params: { n: number }, change: { dims?: number[]; impl?: string; mode?: Mode } = {}): Promise<PreparedCase> => {
    const made = problemOf(getOp('add'), { op: 'add', params, dtype: 'f32', backend: 'cuda', impl: change.impl ?? 'kernel', device: device.id, mode: change.mode ?? 'hot' }, 1)
    return cuda.open({ ...made, dims: change.dims ?? made.dims })
  }

  describe('cuda case', () => {
    it.each(['cold', 'hot', 'rotated', 'graph'] as const)('gives samples in mode %s, each a positive time with its clock, and the state of the device', async (mode) => {
      const prepared = await open({ n: 1_000_000 }, { mode })
      try {
        await prepared.run()
        const { samplesNs, clockMhz, state } = await prepared.sample({ mode, count: 5, inner: 3 })
        expect(samplesNs.length).toBeGreaterThan(0)
        expect(samplesNs.every((ns) => Number.isFinite(ns) && ns > 0)).toBe(true)
        expect(clockMhz?.length).toBe(samplesNs.length)
        expect(clockMhz?.every((mhz) => mhz > 100 && mhz < 4000)).toBe(true)
        if (state.smClockMhz !== undefined) expect(state.smClockMhz).toBeGreaterThan(100)
      } finally {
        await prepared.dispose()
      }
    })

    it('refuses to rotate what the cache holds however often, and says what would help', async () => {
      await expect(open({ n: 100 }, { mode: 'rotated' })).rejects.toMatchObject({ code: 'unsupported', message: expect.stringContaining('larger size') })
    })

    it('tells its caches, smallest first, and its driver', () => {
      expect(device.caches?.at(-1)?.name).toBe('L2')
      expect(device.driver).toMatch(/\d/)
    })

    it('refuses a case larger than the memory, says how much was free, and works afterwards', async () => {
      await expect(open({ n: 2 ** 36 })).rejects.toMatchObject({ code: 'out-of-memory', message: expect.stringContaining('free') })
      const prepared = await open({ n: 1000 })
      await prepared.run()
      await prepared.dispose()
    })

    it('refuses an implementation it does not have and sizes that do not fit together', async () => {
      await expect(open({ n: 1000 }, { impl: 'other' })).rejects.toMatchObject({ code: 'unsupported' })
      await expect(open({ n: 1000 }, { dims: [2000] })).rejects.toMatchObject({ code: 'internal' })
    })
  })
}
