import { problemOf, type PreparedCase } from '@core/backend'
import { getOp } from '@core/ops/registry'
import { describe, expect, it } from 'vitest'
import { nativeBackends } from '../../main/backends/native'
import { checkDropoutMask, checkInputs, checkKernels, supportTable } from './harness'

const { backends, problem } = nativeBackends()
const cpu = backends.find((backend) => backend.id === 'cpu')
if (!cpu) throw new Error(problem ?? 'the addon has no CPU backend')
const [device] = await cpu.devices()
if (!device) throw new Error('the CPU backend lists no device')

console.info(`Kernels of ${device.name}\n${supportTable(device)}`)

// Five threads on any machine: shares that do not divide, and teams larger than the cores at hand.
checkKernels(cpu, device, { extraThreads: [5], large: true })
checkInputs(cpu, device, ['f32', 'f16', 'bf16'])
checkDropoutMask(cpu, device, ['f32', 'f16', 'bf16'])

const open = (n: number, change: { impl?: string; device?: string; dims?: number[]; inputs?: number; threads?: number; dtype?: 'f32' | 'tf32' } = {}) => {
  const op = getOp('add')
  const made = problemOf(op, { op: 'add', params: { n }, dtype: change.dtype ?? 'f32', backend: 'cpu', impl: change.impl ?? 'scalar', device: change.device ?? 'cpu', mode: 'hot', threads: change.threads ?? 1 }, 1)
  return cpu.open({ ...made, dims: change.dims ?? made.dims, tensors: [...made.tensors.slice(0, change.inputs ?? 2), made.tensors.at(-1)!] })
}

const using = async (opened: Promise<PreparedCase>, work: (prepared: PreparedCase) => Promise<void>) => {
  const prepared = await opened
  try {
    await work(prepared)
  } finally {
    await prepared.dispose()
  }
}

describe('cpu device', () => {
  it('offers every implementation of this build, each usable or with a reason', () => {
    expect(device.impls.map((impl) => impl.id)[0]).toBe('scalar')
    for (const impl of device.impls) expect(impl.available).toEqual(impl.available.ok ? { ok: true } : { ok: false, reason: expect.stringMatching(/^[A-Z].*\w/) })
    expect(device.impls.filter((impl) => impl.preferred)).toHaveLength(1)
  })

  it('offers one thread and each larger choice once, in order', () => {
    expect(device.threads[0]).toBe(1)
    expect(device.threads).toEqual([...new Set(device.threads)].sort((a, b) => a - b))
  })
})

describe('cpu case', () => {
  it('gives as many samples as asked for, cold and hot, each a positive time', async () => {
    await using(open(1000), async (prepared) => {
      for (const mode of ['cold', 'hot'] as const) {
        const { samplesNs } = await prepared.sample({ mode, count: 5, inner: 3 })
        expect(samplesNs).toHaveLength(5)
        expect(samplesNs.every((ns) => Number.isFinite(ns) && ns > 0)).toBe(true)
      }
    })
  })

  it('counts the memory of inputs and output', async () => {
    await using(open(1000), async (prepared) => {
      expect(prepared.memory().caseBytes).toBe(3 * 1000 * 4)
    })
  })

  it('refuses what does not fit together before it touches memory', async () => {
    await expect(open(1000, { dims: [2000] })).rejects.toMatchObject({ code: 'internal', message: expect.stringContaining('should have 2000 elements, received 1000') })
    await expect(open(1000, { dims: [-1] })).rejects.toMatchObject({ code: 'internal' })
    await expect(open(1000, { dims: [2 ** 41] })).rejects.toMatchObject({ code: 'internal' })
    await expect(open(1000, { dims: [1000, 1] })).rejects.toMatchObject({ code: 'internal' })
    await expect(open(1000, { inputs: 1 })).rejects.toMatchObject({ code: 'internal' })
    await expect(open(1000, { threads: 0 })).rejects.toMatchObject({ code: 'internal' })
  })

  it('says what it does not have', async () => {
    await expect(open(1000, { impl: 'neon' })).rejects.toMatchObject({ code: 'unsupported' })
    await expect(open(1000, { device: 'cuda:x' })).rejects.toMatchObject({ code: 'unsupported' })
    await expect(open(1000, { dtype: 'tf32' })).rejects.toMatchObject({ code: 'unsupported' })
  })

  it('refuses a case larger than the memory that is left', async () => {
    const params = { m: 2 ** 20, n: 1, k: 2 ** 20 }
    const made = problemOf(getOp('matmul'), { op: 'matmul', params, dtype: 'f32', backend: 'cpu', impl: 'scalar', device: 'cpu', mode: 'hot', threads: 1 }, 1)
    await expect(cpu.open(made)).rejects.toMatchObject({ code: 'out-of-memory' })
  })

  it('refuses a read outside the output, and any use after dispose', async () => {
    const prepared = await open(1000)
    await expect(prepared.read(0, 999, 2)).rejects.toMatchObject({ code: 'internal' })
    await prepared.dispose()
    await expect(prepared.run()).rejects.toMatchObject({ code: 'internal' })
  })
})
