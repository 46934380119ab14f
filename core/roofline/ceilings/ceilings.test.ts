import { describe, expect, it } from 'vitest'
import type { Ceiling } from '../../session/types'
import { testCase, testDevice, testGpu, testResult } from '../../testing'
import { ceilingCases, ceilingKind, ceilingOf, ceilingPlan, ceilingsOf, ceilingsOn, ceilingTitle, ceilingValue, compareKinds, copyCurve, intervalOf, launchShare } from '.'

const summary = { ...testResult().summary!, medianNs: 2000, ciLowNs: 1900, ciHighNs: 2100 }
const short = (device: Parameters<typeof ceilingPlan>[0]) => ceilingPlan(device).map(({ kind, case: c }) => `${kind} ${c.op} ${c.dtype} ${c.impl} ${c.mode} ${c.threads ?? '-'}`)
const caseFor = (device: Parameters<typeof ceilingPlan>[0], kind: string) => ceilingPlan(device).find((planned) => planned.kind === kind)!.case
const largestCopy = (device: Parameters<typeof ceilingPlan>[0]) => ceilingPlan(device).find((planned) => planned.kind === 'copy')?.case.params['n']

describe('the plan of a device', () => {
  it('copies, reads and writes beyond the caches and takes every peak there is a kernel for, with the preferred implementation and all threads', () => {
    expect(short(testDevice()).slice(0, 4)).toEqual(['copy copy f32 avx2 hot 4', 'read sum f32 avx2 hot 4', 'write fill f32 avx2 hot 4', 'flops:f32 peak_fma f32 avx2 hot 4'])
    expect(short(testGpu()).slice(0, 4)).toEqual(['copy copy f32 kernel hot -', 'flops:f32 peak_fma f32 kernel hot -', 'flops:f16 peak_mma f16 kernel hot -', 'flops:bf16 peak_mma bf16 kernel hot -'])
    expect(largestCopy(testGpu())).toBe(2 ** 26)
    // Calls of a few cores are short, so that other programs do not interrupt each of them.
    expect([testDevice(), testDevice({ threads: [1, 64] }), testGpu()].map((device) => caseFor(device, 'flops:f32').params['iterations'])).toEqual([256, 1024, 1024])
    // Sums of rows read, and a constant is written to, as many bytes as the copy has in its working set.
    expect(caseFor(testDevice(), 'read').params).toEqual({ rows: 2 ** 25 / 4096, cols: 4096, axis: 'last' })
    expect(caseFor(testDevice(), 'write').params).toEqual({ n: 2 ** 25 })
    // No tensor of them is larger than the device holds; no peak rate is taken from what only writes.
    const small = testDevice({ maxTensorBytes: 2 ** 26 })
    expect([largestCopy(small), caseFor(small, 'read').params, caseFor(small, 'write').params]).toEqual([2 ** 24, { rows: 2 ** 24 / 4096, cols: 4096, axis: 'last' }, { n: 2 ** 24 }])
    expect(ceilingPlan(testDevice()).filter(({ case: c }) => c.op === 'fill').map(({ kind }) => kind)).toEqual(['write'])
  })

  it('launches a call of one element in each mode the device has', () => {
    expect(short(testGpu()).filter((line) => line.startsWith('launch'))).toEqual(['launch:hot copy f32 kernel hot -', 'launch:graph copy f32 kernel graph -', 'launch:cold copy f32 kernel cold -'])
    expect(short(testDevice()).filter((line) => line.startsWith('launch'))).toEqual(['launch:hot copy f32 avx2 hot 4', 'launch:cold copy f32 avx2 cold 4'])
    expect(caseFor(testGpu(), 'launch:graph').params).toEqual({ n: 1 })
  })

  it('copies working sets from 32 KiB up to the one beyond the caches, in and out counted together', () => {
    const sizes = ceilingPlan(testGpu()).flatMap(({ kind }) => (ceilingKind(kind).is === 'copy-size' ? Number(kind.slice(5)) : []))
    expect([sizes[0], sizes.at(-1), sizes.length]).toEqual([2 ** 15, 2 ** 28, 14])
    expect(caseFor(testGpu(), 'copy:32768').params).toEqual({ n: 4096 })
    expect(new Set(ceilingCases(testGpu()).map((c) => JSON.stringify(c))).size).toBe(ceilingCases(testGpu()).length)
  })

  it('copies to each other GPU of the machine and back, and never takes that for the copy of the device', () => {
    const [kernel] = testGpu().impls
    const device = testGpu({ id: 'node7/cuda:1', impls: [{ ...kernel!, preferred: false }, { ...kernel!, id: 'peer-0', kernels: { copy: ['f32'] }, preferred: false }] })
    expect(ceilingPlan(device).filter(({ case: c }) => c.impl === 'peer-0').map(({ kind, case: c }) => [kind, c.op, c.params, ceilingTitle(kind)])).toEqual([['peer:node7/cuda:0', 'copy', { n: 2 ** 26 }, 'Link to node7/cuda:0']])
    expect(ceilingPlan(device)[0]).toMatchObject({ kind: 'copy', case: { impl: 'kernel' } })
  })

  it('leaves caches larger than usual behind too', () => {
    expect(largestCopy(testDevice({ caches: [{ name: 'L3', bytes: 384 * 2 ** 20 }] }))).toBe(2 ** 28)
    expect(largestCopy(testGpu({ memoryBytes: 2 ** 37, caches: [{ name: 'L2', bytes: 2 ** 40 }] }))).toBe(2 ** 30)
  })

  it('shrinks to what the device can hold, and is short where it is emulated', () => {
    expect(largestCopy(testGpu({ memoryBytes: 2 ** 28 }))).toBe(2 ** 25)
    expect(largestCopy(testGpu({ maxTensorBytes: 2 ** 26 }))).toBe(2 ** 24)
    expect(largestCopy(testGpu({ software: true }))).toBe(2 ** 22)
    expect(ceilingPlan(testGpu({ software: true })).length).toBeLessThan(10)
    expect(largestCopy(testGpu({ memoryBytes: 100 }))).toBeUndefined()
  })

  it('is empty for a device that is missing or is the hardware of another, and takes another implementation where the preferred one is', () => {
    expect(ceilingPlan(testDevice({ available: { ok: false, reason: 'gone' } }))).toEqual([])
    expect(ceilingPlan(testDevice({ sameHardwareAs: { backend: 'cpu', id: 'cpu', name: 'Test CPU' } }))).toEqual([])
    const [scalar, avx2] = testDevice().impls
    expect(short(testDevice({ impls: [scalar!, { ...avx2!, available: { ok: false, reason: 'no AVX2' } }] }))[0]).toBe('copy copy f32 scalar hot 4')
  })
})

describe('a result', () => {
  const of = (kind: string, change: Partial<Parameters<typeof testResult>[0]> = {}) => testResult({ case: caseFor(testDevice(), kind), summary, samplesNs: [2000, 2000], ...change })

  it('becomes a rate per second, or the seconds of a launch', () => {
    expect(ceilingOf(testDevice({ driver: '6.1' }), of('copy', { bytes: 8000 }))).toMatchObject({ kind: 'copy', value: 4e9, unit: 'bytes/s', deviceName: 'Test CPU', driver: '6.1' })
    expect(ceilingOf(testDevice(), of('write', { bytes: 6000 }))).toMatchObject({ kind: 'write', value: 3e9, unit: 'bytes/s' })
    expect(ceilingOf(testDevice(), of('flops:f32', { flops: 1e6 }))).toMatchObject({ kind: 'flops:f32', value: 5e11, unit: 'FLOP/s' })
    expect(ceilingOf(testDevice(), of('launch:cold'))).toMatchObject({ kind: 'launch:cold', value: 2e-6, unit: 's' })
    expect(ceilingOf(testDevice(), of('copy:131072', { bytes: 131072 }))).toMatchObject({ kind: 'copy:131072', value: 131072 / 2e-6, unit: 'bytes/s' })
  })

  it('that is wrong, failed or of another device gives nothing, and no copy that is not of the plan does', () => {
    const good = of('copy')
    expect(ceilingOf(testDevice(), { ...good, status: 'wrong' })).toBeUndefined()
    expect(ceilingOf(testDevice(), { ...good, summary: undefined })).toBeUndefined()
    expect(ceilingOf(testGpu(), good)).toBeUndefined()
    expect(ceilingOf(testDevice(), testResult({ summary }))).toBeUndefined()
    for (const change of [{ params: { n: 1000 } }, { mode: 'cold' as const }, { impl: 'scalar' }, { threads: 1 }]) expect(ceilingOf(testDevice(), { ...good, case: { ...good.case, ...change } })).toBeUndefined()
  })

  it('of a GPU has the interval of its median in its own unit', () => {
    const onGpu = (kind: string, change: Partial<Parameters<typeof testResult>[0]> = {}) => testResult({ case: caseFor(testGpu(), kind), summary, ...change })
    const { low, high } = intervalOf(ceilingOf(testGpu(), onGpu('copy', { bytes: 8000 }))!)
    expect([low, high]).toEqual([expect.closeTo(8000 / 2.1e-6, 0), expect.closeTo(8000 / 1.9e-6, 0)])
    expect(intervalOf(ceilingOf(testGpu(), onGpu('launch:hot'))!)).toEqual({ low: 1.9e-6, high: 2.1e-6 })
    expect(intervalOf(ceilingOf(testGpu(), onGpu('launch:hot', { summary: { ...summary, ciLowNs: undefined, ciHighNs: undefined } }))!)).toEqual({})
  })
})

describe('cache bandwidths', () => {
  const device = testDevice({ threads: [], caches: [{ name: 'L1d', bytes: 128 * 1024 }, { name: 'L2', bytes: 2 ** 22 }, { name: 'L3', bytes: 2 ** 26 }] })
  /** Measures copies of these working sets in this order; `gbps` of each. */
  const measure = (points: readonly [bytes: number, gbps: number][], on = device) =>
    points.reduce<Ceiling[]>((known, [bytes, gbps]) => {
      const result = testResult({ id: `${bytes}`, case: caseFor(on, `copy:${bytes}`), bytes, summary: { ...summary, medianNs: bytes / gbps } })
      const found = ceilingsOf(on, result, known)
      return [...known.filter((c) => !found.some((f) => f.kind === c.kind && f.driver === c.driver)), ...found]
    }, [])
  const caches = (ceilings: readonly Ceiling[]) => Object.fromEntries(ceilings.filter((c) => c.kind.startsWith('cache:')).map((c) => [c.kind, Math.round(c.value / 1e9)]))

  it('are the best copy within half of a cache and beyond half of the one before, whatever the order', () => {
    const points: [number, number][] = [[2 ** 15, 90], [2 ** 16, 140], [2 ** 17, 120], [2 ** 20, 100], [2 ** 22, 70], [2 ** 24, 60], [2 ** 26, 999]]
    const expected = { 'cache:L1d': 140, 'cache:L2': 120, 'cache:L3': 70 }
    expect(caches(measure(points))).toEqual(expected)
    expect(caches(measure([...points].reverse()))).toEqual(expected)
  })

  it('are measured anew with the curve, slower ones too', () => {
    expect(caches(measure([[2 ** 16, 140], [2 ** 16, 80]]))).toEqual({ 'cache:L1d': 80 })
  })

  it('are not reported where the device tells no caches, and take nothing from another driver', () => {
    expect(caches(measure([[2 ** 16, 140]], testDevice({ threads: [] })))).toEqual({})
    const before = measure([[2 ** 16, 140]], { ...device, driver: '1' })
    const result = testResult({ case: caseFor(device, 'copy:32768'), bytes: 2 ** 15, summary: { ...summary, medianNs: 2 ** 15 / 50 } })
    expect(ceilingsOf({ ...device, driver: '2' }, result, before).map((c) => [c.kind, c.driver, Math.round(c.value / 1e9)])).toEqual([['copy:32768', '2', 50], ['cache:L1d', '2', 50]])
  })
})

describe('the launch within a ceiling', () => {
  const of = (kind: string, medianNs: number, mode: 'hot' | 'cold' = 'hot', change: Partial<Ceiling> = {}): Ceiling => ({
    backend: 'cuda', device: 'cuda:0', deviceName: 'GPU', kind, value: kind.startsWith('launch') ? medianNs / 1e9 : 1, unit: 'bytes/s', measuredAt: '', result: testResult({ case: testCase({ mode }), summary: { ...summary, medianNs } }), ...change,
  })
  const launches = [of('launch:cold', 3000), of('launch:hot', 9999, 'hot', { device: 'cuda:1' }), of('launch:hot', 2000)]

  it('is its share of the time, in the mode of the call and on the device', () => {
    expect(launchShare(of('cache:L2', 4000), launches)).toBe(0.5)
    expect(launchShare(of('cache:L2', 4000, 'cold'), launches)).toBe(0.75)
  })
  it('is never more than all of it, and unknown where no launch was measured', () => {
    expect(launchShare(of('cache:L1d', 1500), launches)).toBe(1)
    expect(launchShare(of('cache:L1d', 1500), [])).toBeUndefined()
  })
})

describe('ceilings at hand', () => {
  const ceiling = (change: Partial<Ceiling>): Ceiling => ({ backend: 'cuda', device: 'cuda:0', deviceName: 'GPU', kind: 'copy', value: 1, unit: 'bytes/s', measuredAt: '2026-01-01T00:00:00Z', result: testResult({ case: testCase(), bytes: 2 ** 29 }), ...change })
  const gpu = { backend: 'cuda', id: 'cuda:0', name: 'GPU', driver: '570' }

  it('are those of the very device: another of the same id is another GPU', () => {
    const here = ceiling({ driver: '570' })
    expect(ceilingsOn([ceiling({ deviceName: 'another GPU' }), here, ceiling({ backend: 'webgpu' })], [gpu])).toEqual([here])
  })

  it('of its driver come first; one of another driver stands in and says so', () => {
    const old = ceiling({ driver: '550', value: 2 })
    const older = ceiling({ driver: '530', value: 3, measuredAt: '2025-01-01T00:00:00Z' })
    const peak = ceiling({ driver: '570', kind: 'flops:f32', unit: 'FLOP/s' })
    expect(ceilingsOn([older, old, peak], [gpu])).toEqual([{ ...old, stale: 'measured under driver 550, now 570' }, peak])
    expect(ceilingsOn([old, ceiling({ driver: '570' })], [gpu])).toEqual([ceiling({ driver: '570' })])
  })

  it('of an unknown driver are taken as they are', () => {
    expect(ceilingsOn([ceiling({})], [gpu])).toEqual([ceiling({})])
    expect(ceilingsOn([ceiling({ driver: '550' })], [{ ...gpu, driver: undefined }])[0]).not.toHaveProperty('stale')
  })

  it('of copies make the curve of bandwidth by working set', () => {
    const curve = copyCurve([ceiling({ value: 3 }), ceiling({ kind: 'copy:65536', value: 9 }), ceiling({ kind: 'copy:32768', value: 8 }), ceiling({ kind: 'cache:L2' }), ceiling({ kind: 'flops:f32' })])
    expect(curve.map((point) => [point.bytes, point.bytesPerSecond])).toEqual([[32768, 8], [65536, 9], [2 ** 29, 3]])
  })
})

describe('words', () => {
  it.each([
    ['copy', 'Copy bandwidth'], ['read', 'Read bandwidth'], ['write', 'Write bandwidth'], ['copy:65536', 'Copy of 64 KiB'], ['copy:1048576', 'Copy of 1 MiB'], ['cache:L2', 'L2 bandwidth'], ['flops:tf32', 'Peak tf32'], ['cache:L1d:read', 'L1d read bandwidth'], ['flops:f32@sse2/1', 'Peak f32 (sse2, 1 thread)'], ['cache:L2:write@avx2/4', 'L2 write bandwidth (avx2, 4 threads)'], ['launch:hot', 'Launch, back to back'],
    ['launch:rotated', 'Launch, rotated'], ['copy:x', 'copy:x'], ['what', 'what'],
  ])('%s is %s', (kind, title) => expect(ceilingTitle(kind)).toBe(title))

  it('values carry their unit', () => {
    expect(ceilingValue({ unit: 'bytes/s', value: 4.19e12 })).toBe('4.19 TB/s')
    expect(ceilingValue({ unit: 'FLOP/s', value: 6.1e13 })).toBe('61.0 TFLOP/s')
    expect(ceilingValue({ unit: 's', value: 2.134e-6 })).toBe('2.13 µs')
  })

  it('lists go from memory through caches and peaks to launches and the curve by size', () => {
    const kinds = ['copy:1048576', 'launch:cold', 'copy:65536', 'flops:bf16', 'cache:L2', 'launch:hot', 'flops:f32', 'cache:L3', 'write', 'read', 'copy', 'new']
    expect(kinds.sort(compareKinds)).toEqual(['copy', 'read', 'write', 'cache:L3', 'cache:L2', 'flops:f32', 'flops:bf16', 'launch:hot', 'launch:cold', 'copy:65536', 'copy:1048576', 'new'])
  })
})
