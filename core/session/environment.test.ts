import { describe, expect, it, test } from 'vitest'
import { testDevice, testGpu } from '../testing'
import { environmentGroups, environmentWarnings, noiseFloorOn, environmentDifferences, cacheSizes } from './environment'
import type { Environment, NoiseFloor } from './types'

const bare: Environment = { appVersion: '1', host: 'bench', os: 'Debian', kernel: 'Linux 6', cpu: 'EPYC', logicalCpus: 8, memoryBytes: 2 ** 33, node: '24', devices: [] }
const floor: NoiseFloor = { backend: 'cuda', device: 'cuda:0', deviceName: 'Test GPU', driver: '570', measuredAt: '2026-01-02T00:00:00Z', pairs: 40, falseVerdicts: 1, ratioP50: 0.0011, ratioP95: 0.0043, sessionId: 's' }
const flat = (e: Environment) => Object.fromEntries(environmentGroups(e).flatMap((group) => group.facts.map(([name, value]) => [`${group.title}: ${name}`, value])))

describe('the environment record in words', () => {
  it('says everything that was recorded', () => {
    const facts = flat({
      ...bare, electron: '45', chromium: '156', governor: 'performance', boost: false, powerSource: 'mains', switches: ['--use-angle=vulkan', 'OMP_NUM_THREADS=4'],
      caches: [{ name: 'L1d', bytes: 2 ** 15, instances: 8 }, { name: 'L3', bytes: 2 ** 25, instances: 1 }], noiseFloors: [floor],
      devices: [testGpu({ driver: '570', caches: [{ name: 'L2', bytes: 50 * 2 ** 20 }], facts: [{ name: 'CUDA', value: '12.8' }] }), testDevice({ available: { ok: false, reason: 'gone' } })],
    })
    expect(facts).toEqual({
      'Machine: Computer': 'bench', 'Machine: System': 'Debian, Linux 6', 'Machine: Processor': 'EPYC, 8 logical CPUs', 'Machine: Processor caches': 'L1d 32 KiB x 8, L3 32 MiB', 'Machine: Memory': '8.00 GiB',
      'Machine: Clocks and power': 'governor performance, boost off, on mains', 'Program: Opscope': '1', 'Program: Runtime': 'Node 24, Electron 45, Chromium 156', 'Program: Chromium switches': '--use-angle=vulkan', 'Program: Environment variables': 'OMP_NUM_THREADS=4',
      'Test GPU, cuda: Driver': '570', 'Test GPU, cuda: CUDA': '12.8', 'Test GPU, cuda: Caches': 'L2 50 MiB', 'Test GPU, cuda: Noise floor': '0.43 % in 95 % of 40 pairs, typically 0.11 %, 1 false verdict',
    })
  })

  it('leaves out what an earlier version did not record, and says a driver once', () => {
    expect(Object.keys(flat(bare))).toEqual(['Machine: Computer', 'Machine: System', 'Machine: Processor', 'Machine: Memory', 'Program: Opscope', 'Program: Runtime'])
    expect(flat({ ...bare, devices: [testGpu({ driver: '570', facts: [{ name: 'Driver', value: '570.1' }] })] })).toMatchObject({ 'Test GPU, cuda: Driver': '570.1', 'Test GPU, cuda: Noise floor': 'not measured' })
  })

  it('says nothing of what the file of another tool does not tell', () => {
    const foreign: Environment = { ...bare, appVersion: '', host: '', os: '', kernel: '', cpu: '', memoryBytes: 0, node: '', logicalCpus: 2, devices: [] }
    expect(environmentGroups(foreign)).toEqual([{ title: 'Machine', facts: [['Processor', '2 logical CPUs']] }])
  })

  it('puts what casts doubt on figures into warnings, once each and only of devices that could be used', () => {
    const gpu = testGpu({ warnings: ['Persistence mode is off.'], disturbances: ['A display is attached.'] })
    expect(environmentWarnings({ ...bare, powerSource: 'battery', devices: [gpu, gpu, testDevice({ available: { ok: false, reason: 'x' }, warnings: ['w'] })] })).toEqual([
      'The machine ran on battery.', 'Test GPU (cuda): A display is attached.', 'Test GPU (cuda): Persistence mode is off.',
    ])
    expect(environmentWarnings(bare)).toEqual([])
  })

  it('names the Pythons and their packages, and says once what disturbs the hardware they share', () => {
    const cpu = testDevice({ disturbances: ['A container limits the CPU.'] })
    const python = (id: string, path: string) => testDevice({ ...cpu, backend: 'python', id, sameHardwareAs: { backend: 'cpu', id: 'cpu', name: cpu.name }, interpreter: { path, source: 'PATH', packages: [] }, facts: [{ name: 'Python', value: '3.12.1' }, { name: 'PyTorch', value: '2.5.1' }] })
    const both = { ...bare, devices: [python('python:cpu', '/opt/a/bin/python'), python('python:cpu@b', '/opt/b/bin/python'), cpu] }
    expect(flat(both)).toMatchObject({ 'Test CPU, python:cpu: Program': '/opt/a/bin/python', 'Test CPU, python:cpu: PyTorch': '2.5.1', 'Test CPU, python:cpu@b: Program': '/opt/b/bin/python' })
    expect(environmentWarnings(both)).toEqual(['Test CPU (cpu): A container limits the CPU.'])
    expect(environmentWarnings({ ...both, devices: both.devices.slice(0, 2) })).toEqual(['Test CPU (python): A container limits the CPU.'])
  })
})

describe('the noise floor of a device', () => {
  const gpu = { backend: 'cuda', id: 'cuda:0', name: 'Test GPU', driver: '570' }
  it('is that of its driver, else the newest of another, said to be stale', () => {
    const old = { ...floor, driver: '550' }
    const older = { ...floor, driver: '530', measuredAt: '2025-01-01T00:00:00Z' }
    expect(noiseFloorOn([old, floor], gpu)).toEqual(floor)
    expect(noiseFloorOn([older, old], gpu)).toEqual({ ...old, stale: 'measured under driver 550, now 570' })
    expect(noiseFloorOn([old], { ...gpu, driver: undefined })).toEqual(old)
  })
  it('is not that of another device of the same id', () => expect(noiseFloorOn([{ ...floor, deviceName: 'other' }], gpu)).toBeUndefined())
})

const base: Environment = { appVersion: '1', host: 'h', os: 'Linux', kernel: '6', cpu: 'EPYC', logicalCpus: 2, memoryBytes: 2 ** 33, node: '24', devices: [testDevice()] }
const used = new Set(['cpu/cpu', 'cuda/cuda:0'])
const differences = (a: Partial<Environment>, b: Partial<Environment>, names: [string, string] = ['A', 'B'], of: ReadonlySet<string> = used) =>
  environmentDifferences([{ name: names[0], environment: { ...base, ...a } }, { name: names[1], environment: { ...base, ...b } }], of)

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

  it('name switches by what changed, with those only one side has, and those of Chromium only where WebGPU was used', () => {
    const [a, b] = [{ switches: ['OMP_NUM_THREADS=4', '--use-angle=vulkan', '--ignore-gpu-blocklist'] }, { switches: ['--use-angle=swiftshader', 'OMP_NUM_THREADS=4', 'CUDA_VISIBLE_DEVICES=1'] }]
    expect(differences(a, b, ['A', 'B'], new Set([...used, 'webgpu/webgpu:0']))).toEqual([
      '--ignore-gpu-blocklist: set in “A”, not set in “B”.', '--use-angle: vulkan in “A”, swiftshader in “B”.', 'CUDA_VISIBLE_DEVICES: not set in “A”, 1 in “B”.',
    ])
    expect(differences(a, b)).toEqual(['CUDA_VISIBLE_DEVICES: not set in “A”, 1 in “B”.'])
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

const MIB = 2 ** 20

test('the list of the device comes first, then its facts, then another device of the same name', () => {
  const cuda = testDevice({ backend: 'cuda', id: 'cuda:0', name: 'GPU', caches: [{ name: 'L2', bytes: 60 * MIB }] })
  const webgpu = testDevice({ backend: 'webgpu', id: 'webgpu:0', name: 'GPU', facts: [] })
  expect(cacheSizes({ devices: [cuda, webgpu] }, 'webgpu', 'webgpu:0')).toEqual([60 * MIB])
  const facts = [{ name: 'Physical cores', value: '16' }, { name: 'L1 data cache', value: '48 KiB, per core' }, { name: 'L1 instruction cache', value: '32 KiB, per core' }, { name: 'L2 cache', value: '2 MiB, per core' }, { name: 'L3 cache', value: '300 MiB, shared by 16' }]
  expect(cacheSizes({ devices: [testDevice({ backend: 'cpu', id: 'cpu', facts })] }, 'cpu', 'cpu')).toEqual([768 * 1024, 32 * MIB, 300 * MIB])
})

test('a processor without either has the caches of the machine; nothing is invented for a GPU', () => {
  const devices = [testDevice({ backend: 'cpu', id: 'cpu', name: 'CPU', facts: [] }), testDevice({ backend: 'cuda', id: 'cuda:0', name: 'GPU', facts: [] })]
  const caches = [{ name: 'L3', bytes: 32 * MIB, instances: 2 }]
  expect(cacheSizes({ devices, caches }, 'cpu', 'cpu')).toEqual([64 * MIB])
  expect(cacheSizes({ devices, caches }, 'cuda', 'cuda:0')).toEqual([])
})
