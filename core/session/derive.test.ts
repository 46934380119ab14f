import { describe, expect, it } from 'vitest'
import { mergeEnvironments, type MergePart } from './derive'
import type { Environment } from './types'

const device = (backend: string, id: string, name: string, driver?: string): Environment['devices'][number] => ({
  backend, id, name, ...(driver ? { driver } : {}), available: { ok: true }, impls: [], modes: ['hot'], threads: [], memoryBytes: 1, software: false, facts: [], warnings: [],
})
const environment = (devices: Environment['devices'], change: Partial<Environment> = {}): Environment => ({ appVersion: '1', host: 'h', os: 'Linux', kernel: '6', cpu: 'Xeon', logicalCpus: 4, memoryBytes: 1, node: '24', devices, ...change })
const part = (name: string, used: string[], env: Environment): MergePart => ({ name, used: new Set(used), environment: env })
const GPU = device('cuda', 'cuda:0', 'H200', '560')
const CPU = device('cpu', 'cpu', 'Xeon')

describe('merging environments', () => {
  it('keeps the first and adds the devices only the others have', () => {
    const merged = mergeEnvironments([part('a', ['cpu/cpu'], environment([CPU])), part('b', ['cuda/cuda:0'], environment([GPU]))])
    expect(merged).toMatchObject({ ok: true, differences: [] })
    expect(merged.ok && merged.environment.devices.map(({ id }) => id)).toEqual(['cpu', 'cuda:0'])
  })

  it('refuses two devices under one id, where both were measured', () => {
    const other = device('cuda', 'cuda:0', 'RTX 4090')
    const merged = mergeEnvironments([part('a', ['cuda/cuda:0'], environment([GPU])), part('b', ['cuda/cuda:0'], environment([other]))])
    expect(merged).toEqual({ ok: false, reason: expect.stringContaining('cuda:0 is H200 in “a” and RTX 4090 in “b”') as string })
    const unused = mergeEnvironments([part('a', ['cpu/cpu'], environment([CPU, GPU])), part('b', ['cuda/cuda:0'], environment([CPU, other]))])
    expect(unused.ok && unused.environment.devices.map(({ name }) => name)).toEqual(['Xeon', 'RTX 4090'])
  })

  it('tells other differences of the devices used', () => {
    const newer = environment([{ ...GPU, driver: '570' }, CPU], { kernel: '7' })
    const merged = mergeEnvironments([part('a', ['cuda/cuda:0'], environment([GPU])), part('b', ['cuda/cuda:0'], newer)])
    expect(merged.ok && merged.differences).toEqual(['Kernel: 6 in “a”, 7 in “b”.', 'Driver of H200: 560 in “a”, 570 in “b”.'])
  })

  it('takes two at least', () => {
    expect(mergeEnvironments([part('a', [], environment([]))])).toMatchObject({ ok: false })
  })
})
