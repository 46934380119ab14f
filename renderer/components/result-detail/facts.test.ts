import { describe, expect, it } from 'vitest'
import { testCase, testDevice, testResult } from '@core/testing'
import { counterFacts, deviceFacts, identityFacts, interpreterFacts, labelFacts, launchFacts, measurementFacts, placementFacts, verificationFacts } from './facts'

const throttled = (first: number, count: number) => ({ kind: 'throttled' as const, reason: 'power limit', first, count })
const samplesNs = Array.from({ length: 40 }, () => 1)

describe('labelled samples', () => {
  it('are counted by kind with their reasons, and it is said what counts', () => {
    const labels = [throttled(0, 3), { kind: 'slow-clock' as const, reason: '1200 of 1980 MHz', first: 2, count: 2 }]
    expect(labelFacts({ labels, samplesNs })).toEqual([
      { name: 'Throttled', value: '3 of 40: power limit', trouble: false }, { name: 'Clock low', value: '2 of 40: 1200 of 1980 MHz', trouble: false },
      { name: 'Unlabelled', value: '36 of 40' }, { name: 'Used', value: 'unlabelled samples' },
    ])
  })
  it('are trouble where too few others are left', () => {
    expect(labelFacts({ labels: [throttled(0, 30)], samplesNs })).toEqual([{ name: 'Throttled', value: '30 of 40: power limit', trouble: true }, { name: 'Unlabelled', value: '10 of 40' }, { name: 'Used', value: 'all samples: too few are unlabelled' }])
  })
  it('need no section where all are clean', () => expect(labelFacts({ samplesNs })).toEqual([]))
})

it('the device while sampling: ranges of readings, sums of interruptions, unread clocks left out', () => {
  const facts = deviceFacts({ deviceStates: [{ firstSample: 0, state: { stealMs: 3, involuntarySwitches: 2 } }, { firstSample: 5, state: { stealMs: 4.5 } }], clocksMhz: [1980, 0, 1200], probesNs: [500, 510] })
  expect(facts).toEqual([
    { name: 'Clock of samples', value: '1200 to 1980 MHz' }, { name: 'CPU speed probe', value: '500 to 510 ns' },
    { name: 'Involuntary context switches', value: '2' }, { name: 'Hypervisor steal time', value: '7.5 ms' },
  ])
})

describe('a result of a Python', () => {
  const c = testCase({ backend: 'python', impl: 'torch', device: 'python:cpu@ml' })
  it('names its interpreter and the packages that the session kept, of its own device', () => {
    const python = (id: string, version: string) => testDevice({ backend: 'python', id, interpreter: { path: '/opt/python', version, source: 'conda', packages: [{ name: 'torch', version: '2.11.0', detail: 'CUDA 13.0' }, { name: 'triton', problem: 'not installed' }] } })
    expect(interpreterFacts(c, [testDevice(), python('python:cpu', '3.9.1'), python('python:cpu@ml', '3.12.3')])).toEqual([{ name: 'Python', value: '3.12.3' }, { name: 'PyTorch', value: '2.11.0 (CUDA 13.0)' }, { name: 'Found in', value: 'conda' }])
    expect(interpreterFacts(testCase(), [testDevice()])).toEqual([])
  })
  it('states each kernel of a call as the driver does, and nothing that it did not state', () => {
    const [split, join] = launchFacts(testResult({ launches: [
      { kernel: 'matmul_skinny_f16', grid: [1320, 2, 1], threads: 256, cluster: 2, registers: 96, sharedBytes: 49152, localBytes: 0, blocksPerSm: 2, occupancy: 0.25, waves: 10 },
      { kernel: 'matmul_join_f16', grid: [8, 1, 1], threads: 128 },
    ] }))
    expect(split!.map(({ name, value }) => `${name}: ${value}`)).toEqual([
      'Name: matmul_skinny_f16', 'Grid: 1,320 × 2 blocks of 256 threads, clusters of 2', 'Registers: 96 per thread', 'Shared memory: 48.0 KiB per block', 'Occupancy: 25.0 %, 2 blocks per SM (theoretical)', 'Waves: 10',
    ])
    expect(join!.map(({ name }) => name)).toEqual(['Name', 'Grid'])
    expect(launchFacts(testResult())).toEqual([])
  })
  it('tells what launching a call cost beside its time, and the peak of the library', () => {
    const facts = (result: ReturnType<typeof testResult>) => measurementFacts(result).filter(({ name }) => /Launch overhead|Library peak/.test(name))
    expect(facts(testResult({ case: c, hostCallNs: 6200, libraryPeakBytes: 4096 }))).toEqual([
      { name: 'Launch overhead', value: 'Python took 6.20 µs to issue a call; not in the time' }, { name: 'Library peak', value: "4.00 KiB beyond the case, by the library's own counter" },
    ])
    expect(facts(testResult({ hostCallNs: 2100 }))[0]!.value).toContain('The host took 2.10 µs')
    expect(facts(testResult())).toEqual([])
  })
})

it('names the device of a case beside its id', () => {
  const device = (devices?: ReturnType<typeof testDevice>[]) => identityFacts(testResult(), devices).find(({ name }) => name === 'Device')?.value
  const { backend, device: id } = testResult().case
  expect(device([testDevice({ backend, id, name: 'NVIDIA H200' })])).toBe(`${id}, NVIDIA H200`)
  expect(device()).toBe(id)
})

it('says where the threads of a case ran', () => {
  const placement = 'one per core first, each bound to its processor: 0-3, then their siblings 4-7'
  const devices = [testDevice({ facts: [{ name: 'Threads', value: placement }] })]
  expect(placementFacts(testCase({ threads: 2 }), devices)).toEqual([{ name: 'Thread placement', value: placement }])
  expect([placementFacts(testCase({ threads: undefined }), devices), placementFacts(testCase({ threads: 2 }), [testDevice()])]).toEqual([[], []])
})

describe('hardware counters', () => {
  it('are given per call, with the ratios they make, and by their reason where there are none', () => {
    expect(counterFacts({ counters: { instructions: 3000, cycles: 1500, l1Reads: 1000, l1Misses: 50 } })).toEqual([
      { name: 'Instructions', value: expect.stringMatching(/^3\S* per call$/) }, { name: 'Cycles', value: expect.stringMatching(/^1\.5\S* per call$/) }, { name: 'Instructions per cycle', value: '2.00' }, { name: 'L1 data cache hits', value: expect.stringMatching(/^95\S* % of 1\S* reads$/) },
    ])
    expect(counterFacts({ counters: { reason: 'This machine offers no hardware counters, as is usual of virtual machines.' } })).toEqual([{ name: 'Unavailable', value: expect.stringContaining('virtual machines') }])
    expect(counterFacts({ counters: { cycles: 1500, reason: 'Not counted: instructions (the processor has no such counter)' } })).toEqual([{ name: 'Incomplete', value: expect.stringContaining('instructions') }, { name: 'Cycles', value: expect.anything() }])
    expect(counterFacts({})).toEqual([])
  })
})

it('elements compared are written as sizes are', () => {
  const verification = { ...testResult().verification!, checkedElements: 65_536, totalElements: 2 ** 24 }
  expect(verificationFacts(verification)).toContainEqual(expect.objectContaining({ name: 'Elements compared', value: '64Ki of 16Mi' }))
})
