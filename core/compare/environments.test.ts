import { describe, expect, it } from 'vitest'
import type { Environment } from '../session/types'
import { testDevice, testGpu } from '../testing'
import { environmentDifferences } from './environments'

const base: Environment = { appVersion: '1', host: 'h', os: 'Linux', kernel: '6', cpu: 'EPYC', logicalCpus: 2, memoryBytes: 2 ** 33, node: '24', devices: [testDevice()] }
const used = new Set(['cpu/cpu', 'cuda/cuda:0'])
const differences = (a: Partial<Environment>, b: Partial<Environment>, names: [string, string] = ['A', 'B']) =>
  environmentDifferences([{ name: names[0], environment: { ...base, ...a } }, { name: names[1], environment: { ...base, ...b } }], used)

describe('differences between environments', () => {
  it('tell how the processor is clocked, fed and cached', () => {
    const caches = (l3: number) => [{ name: 'L1d', bytes: 2 ** 15, instances: 8 }, { name: 'L3', bytes: l3, instances: 1 }]
    expect(differences({ governor: 'performance', boost: true, powerSource: 'mains', caches: caches(2 ** 25) }, { governor: 'powersave', boost: false, powerSource: 'battery', caches: caches(2 ** 24) })).toEqual([
      'Caches: L1d 32 KiB x 8, L3 32 MiB in “A”, L1d 32 KiB x 8, L3 16 MiB in “B”.', 'Governor: performance in “A”, powersave in “B”.', 'Boost: on in “A”, off in “B”.', 'Power source: mains in “A”, battery in “B”.',
    ])
  })

  it('are none where only one side knows, as with sessions of an earlier version', () => {
    expect(differences({ governor: 'performance', boost: true, switches: ['OMP_NUM_THREADS=4'], caches: [{ name: 'L2', bytes: 1, instances: 1 }] }, {})).toEqual([])
  })

  it('name switches by what changed, with those only one side has', () => {
    expect(differences({ switches: ['OMP_NUM_THREADS=4', '--use-angle=vulkan', '--ignore-gpu-blocklist'] }, { switches: ['--use-angle=swiftshader', 'OMP_NUM_THREADS=4', 'CUDA_VISIBLE_DEVICES=1'] })).toEqual([
      '--ignore-gpu-blocklist: set in “A”, not set in “B”.', '--use-angle: vulkan in “A”, swiftshader in “B”.', 'CUDA_VISIBLE_DEVICES: not set in “A”, 1 in “B”.',
    ])
  })

  it('tell another driver once, and only of devices that were used', () => {
    const gpu = (driver: string, fact = false) => [testGpu({ driver, facts: fact ? [{ name: 'Driver', value: driver }] : [] })]
    expect(differences({ devices: gpu('550') }, { devices: gpu('570') })).toEqual(['Driver of Test GPU: 550 in “A”, 570 in “B”.'])
    expect(differences({ devices: gpu('550', true) }, { devices: gpu('570', true) })).toEqual(['Driver of Test GPU: 550 in “A”, 570 in “B”.'])
    expect(differences({ devices: [testGpu({ id: 'cuda:1', driver: '550' })] }, { devices: [testGpu({ id: 'cuda:1', driver: '570' })] })).toEqual([])
  })

  it('say which session was disturbed, in the words of the device', () => {
    const gpu = (disturbances: string[]) => ({ devices: [testGpu({ disturbances })] })
    expect(differences(gpu(['A display is attached.']), gpu(['A display is attached.', 'python (12 GiB) computes on it.']))).toEqual(['Test GPU was disturbed in “B”: python (12 GiB) computes on it.'])
    expect(differences(gpu(['x']), gpu([]), ['same', 'same'])).toEqual(['Test GPU was disturbed in the baseline: x.'])
  })
})
