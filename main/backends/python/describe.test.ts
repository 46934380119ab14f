import { describe as suite, expect, it } from 'vitest'
import { deviceSchema, type Impl } from '@core/backend'
import { testDevice, testGpu } from '@core/testing'
import { describe, type Described } from './describe'
import type { Found } from './interpreters'
import { PROTOCOL_VERSION, type Probe } from './protocol'

const cpu = testDevice({ caches: [{ name: 'L2', bytes: 2 ** 21 }], facts: [{ name: 'Cores', value: '4' }] })
const gpu = testGpu({ driver: '580.1', disturbances: ['another process computes on it'] })
const torch = { name: 'torch', version: '2.5.1+cu124', detail: 'CUDA 12.4, 1 GPU' }
const numpy = { name: 'numpy', version: '2.1.0' }
const missing = (name: string) => ({ name, problem: 'not installed' })

/** What the probe says of a package that computes `add`. */
const impl = (id: string, packages: Probe['packages']): Impl[] => [
  { id, title: id, preferred: id === 'torch', kernels: { add: ['f32'] }, available: packages.some((one) => one.name === id && one.version) ? { ok: true } : { ok: false, reason: `${id} is not installed` } },
]

function python(name: string, packages: Probe['packages'], change: Partial<Probe> = {}): Found {
  const prefix = `/env/${name}`
  const cuda: Probe['cuda'] = packages.some((one) => one.name === 'torch' && one.version) ? { ok: true } : { ok: false, reason: 'PyTorch is not installed' }
  return { path: `${prefix}/bin/python3`, source: 'conda', name, probed: { probe: { python: '3.12.1', prefix, packages, cpu: packages.some((one) => one.version) ? { ok: true } : { ok: false, reason: 'neither NumPy nor PyTorch' }, cuda, impls: { cpu: [...impl('numpy', packages), ...impl('torch', packages)], cuda: impl('torch', packages) }, ...change } } }
}
const ml = python('ml', [numpy, torch, missing('triton')])
const plain = python('plain', [numpy, missing('torch'), missing('triton')])
const broken: Found = { path: '/env/broken/bin/python3', source: 'PATH', name: 'broken', probed: { problem: 'it did not answer as a Python does' } }

const offers = (change: Partial<Described>) => describe({ found: [ml], chosen: undefined, hardware: [cpu, gpu], said: () => undefined, ...change })
const lines = (change: Partial<Described>) => offers(change).map(({ device: d, lane }) => `${d.id}: ${d.available.ok ? d.impls.filter((impl) => impl.available.ok).map((impl) => (impl.preferred ? `${impl.id}*` : impl.id)).join(' ') : d.available.reason}${lane ? ` (${lane.hardware} ${lane.ordinal})` : ''}`)

suite('the devices of Pythons', () => {
  it('are the hardware at hand with what the best Python can compute with; others are listed', () => {
    expect(lines({ found: [broken, plain, ml] })).toEqual(['python:cpu: numpy torch* (cpu 0)', 'python:cuda:0: torch* (cuda 0)', 'python:cpu@broken: it did not answer as a Python does', 'python:cpu@plain: found, not chosen'])
  })

  it('follow the choice of the user, with names after the first, and say what a chosen one lacks', () => {
    const second = testGpu({ id: 'cuda:1' })
    expect(lines({ found: [ml, plain, broken], chosen: ['/env/plain', ml.path, broken.path], hardware: [cpu, gpu, second] })).toEqual([
      'python:cpu: numpy (cpu 0)', 'python:cuda:0: PyTorch is not installed', 'python:cuda:1: PyTorch is not installed', 'python:cpu@ml: numpy torch* (cpu 0)', 'python:cuda:0@ml: torch* (cuda 0)', 'python:cuda:1@ml: torch* (cuda 1)', 'python:cpu@broken: it did not answer as a Python does',
    ])
  })

  it('have the facts, limits and state of the hardware and name it', () => {
    const [onCpu, onGpu] = offers({}).map(({ device }) => deviceSchema.parse(device))
    expect(onCpu).toMatchObject({ backend: 'python', name: cpu.name, threads: cpu.threads, memoryBytes: cpu.memoryBytes, caches: cpu.caches, modes: cpu.modes, sameHardwareAs: { backend: 'cpu', id: 'cpu', name: cpu.name } })
    expect(onCpu!.facts).toEqual([{ name: 'Python', value: '3.12.1' }, { name: 'NumPy', value: '2.1.0' }, { name: 'PyTorch', value: '2.5.1+cu124 (CUDA 12.4, 1 GPU)' }, { name: 'Cores', value: '4' }])
    expect(onGpu).toMatchObject({ driver: '580.1', disturbances: gpu.disturbances, modes: gpu.modes, sameHardwareAs: { backend: 'cuda', id: 'cuda:0' } })
  })

  it('name the Python, its packages, and how to install what is missing', () => {
    const [{ device }] = offers({}) as [{ device: ReturnType<typeof testDevice> }]
    expect(device.interpreter).toEqual({ path: '/env/ml/bin/python3', version: '3.12.1', source: 'conda', packages: [numpy, torch, { name: 'triton', problem: 'not installed', install: '/env/ml/bin/python3 -m pip install triton' }] })
    expect(offers({ hardware: [cpu] })[0]!.device.interpreter!.packages[2]).toEqual(missing('triton'))
  })

  it('offer what the probe found, for each piece of hardware its own', () => {
    const [onCpu, onGpu] = offers({ found: [python('x', [numpy, missing('torch')], { cuda: { ok: true } })] }).map(({ device }) => device)
    expect(onCpu!.impls.map(({ id, available }) => [id, available.ok || available.reason])).toEqual([['numpy', true], ['torch', 'torch is not installed']])
    expect(onGpu!.impls.map(({ id }) => id)).toEqual(['torch'])
  })

  it('believe the worker once it has said more than the probe', () => {
    const said: Described['said'] = ({ hardware }) => (hardware === 'cpu' ? { protocol: PROTOCOL_VERSION, python: '3.12.1', packages: [{ name: 'torch', version: '2.6.0' }] } : undefined)
    const [onCpu, onGpu] = offers({ said }).map(({ device }) => device)
    expect(onCpu!.facts[1]).toEqual({ name: 'PyTorch', value: '2.6.0' })
    expect(onGpu!.facts[1]).not.toEqual(onCpu!.facts[1])
  })

  it('are one that is missing where there is no Python, none can be used without our own parts, or no hardware was found', () => {
    expect(lines({ found: [] })).toEqual([expect.stringMatching(/^python:cpu: no Python was found/)])
    expect(lines({ problem: 'the native part is not built' })).toEqual(['python:cpu: the native part is not built', 'python:cuda:0: the native part is not built'])
    expect(lines({ problem: 'the native part is not built', hardware: [] })).toEqual(['python:cpu: the native part is not built'])
    expect(lines({ hardware: [{ ...gpu, available: { ok: false, reason: 'no driver' } }, cpu] })).toEqual(['python:cpu: numpy torch* (cpu 0)'])
    expect(lines({ found: [broken] })).toEqual(['python:cpu: it did not answer as a Python does'])
  })
})
