import { describe, expect, it } from 'vitest'
import type { BenchmarkCase } from '../../case'
import { PRESETS } from '../../measure/settings'
import type { Ceiling } from '../../session/types'
import { estimateSeconds } from '../../sweep/estimate'
import { testCase, testDevice, testGpu, testResult } from '../../testing'
import { roofsOf } from '../roofline'
import { ceilingCases, ceilingOf, ceilingPlan, ceilingSettings, ceilingTitle, choicesOf, compareKinds, levelsOf, splitKind, unmeasuredChoices, wholeChoice } from '.'

const streams = { stream_read: ['f32' as const], stream_write: ['f32' as const], stream_copy: ['f32' as const] }
const [scalar, avx2] = testDevice().impls
/** Two levels of ours and a library, on eight cores with private first caches and one shared last cache. */
const device = testDevice({
  impls: [{ ...scalar!, kernels: { ...scalar!.kernels, ...streams } }, { ...avx2!, kernels: { ...avx2!.kernels, ...streams } }, { ...scalar!, id: 'openblas', kernels: { matmul: ['f32'] } }],
  threads: [1, 2, 4, 8, 16], facts: [{ name: 'Physical cores', value: '8' }, { name: 'L1 data cache', value: '32 KiB, per core' }, { name: 'L2 cache', value: '1 MiB, per core' }, { name: 'L3 cache', value: '32 MiB, shared by 8' }],
  caches: [{ name: 'L1d', bytes: 8 * 2 ** 15 }, { name: 'L2', bytes: 2 ** 23 }, { name: 'L3', bytes: 2 ** 26 }],
})
const plan = (scope?: Parameters<typeof ceilingPlan>[1]) => ceilingPlan(device, scope).filter(({ kind }) => splitKind(kind).choice !== undefined)
const caseOf = (kind: string, scope?: Parameters<typeof ceilingPlan>[1]): BenchmarkCase => ceilingPlan(device, scope).find((planned) => planned.kind === kind)!.case
const passed = (kind: string, scope?: Parameters<typeof ceilingPlan>[1]) => {
  const { n, iterations } = caseOf(kind, scope).params
  return [Number(n) * 4 * (kind.includes('read') || kind.includes('write') ? 1 : 2), Number(iterations)]
}

describe('ceilings of a processor', () => {
  it('are those of all threads and of one, for the preferred level; of other choices on demand, and of all', () => {
    expect([levelsOf(device), wholeChoice(device), levelsOf(testGpu()), wholeChoice(testGpu())]).toEqual([['scalar', 'avx2'], { impl: 'avx2', threads: 16 }, [], undefined])
    expect(choicesOf(device, {})).toEqual([{ impl: 'avx2', threads: 1 }])
    // A library computes on the preferred level; a count that the device does not offer is left out.
    expect(choicesOf(device, { choices: [{ impl: 'scalar', threads: 4 }, { impl: 'openblas', threads: 2 }, { impl: 'avx2', threads: 3 }, { impl: 'avx2', threads: 16 }] })).toEqual([{ impl: 'avx2', threads: 1 }, { impl: 'scalar', threads: 4 }, { impl: 'avx2', threads: 2 }])
    expect(choicesOf(device, { all: true })).toHaveLength(2 * 5 - 1)
    expect(plan().map(({ kind }) => kind)).toEqual([
      'copy', 'read', 'write', 'flops:f32', 'launch:hot', ...['L1d', 'L2', 'L3'].flatMap((name) => [`cache:${name}`, `cache:${name}:read`, `cache:${name}:write`]),
    ].map((kind) => `${kind}@avx2/1`))
    expect(plan().every(({ case: c }) => c.impl === 'avx2' && c.threads === 1)).toBe(true)
    expect(caseOf('flops:f32@scalar/2', { choices: [{ impl: 'scalar', threads: 2 }] })).toMatchObject({ op: 'peak_fma', impl: 'scalar', threads: 2, params: { iterations: 128 } })
    expect(ceilingPlan(testGpu(), { all: true })).toEqual(ceilingPlan(testGpu()))
  })

  it('pass over half of what the threads reach of a cache, often enough that waking them is little', () => {
    expect(passed('cache:L1d@avx2/1')).toEqual([2 ** 14, 256])
    expect(passed('cache:L2:read@avx2/1')).toEqual([2 ** 19, 8])
    // One of the two last caches, by one thread and by four; both by sixteen, on the eight cores' first caches.
    expect(passed('cache:L3@avx2/1')).toEqual([2 ** 24, 1])
    expect(passed('cache:L3:write@avx2/4', { all: true })[0]).toBe(2 ** 24)
    expect([passed('cache:L1d'), passed('cache:L3')]).toEqual([[8 * 2 ** 14, 512], [2 ** 25, 2]])
  })

  it('leaves out a cache that is no larger than the one before it', () => {
    const flat = { ...device, caches: [{ name: 'L2', bytes: 2 ** 23 }, { name: 'L3', bytes: 2 ** 23 }], facts: [] }
    expect(ceilingPlan(flat).filter(({ kind }) => kind.startsWith('cache:L3'))).toEqual([])
  })

  it('takes about ten seconds for one choice', () => {
    const seconds = (cases: readonly BenchmarkCase[]) => estimateSeconds(cases, ceilingSettings(PRESETS.standard, device), [], [device])
    expect(seconds(plan().map((planned) => planned.case))).toBeLessThan(10)
    expect(ceilingCases(device, { all: true }).length).toBeGreaterThan(100)
    expect(ceilingSettings(PRESETS.standard, testGpu())).toEqual(ceilingSettings(PRESETS.standard))
  })

  it('that a sweep uses and that are not known can be measured alone', () => {
    const on = (impl: string, threads: number) => testCase({ impl, threads })
    const known = ceilingPlan(device, { all: true }).filter(({ kind }) => ['flops:f32', 'flops:f32@scalar/1'].includes(kind)).map(({ case: c }) => ceilingOf(device, testResult({ case: c }))!)
    const missing = unmeasuredChoices(device, [on('scalar', 1), on('scalar', 2), on('avx2', 16), on('openblas', 2), on('avx2', 2), testCase({ backend: 'cuda', device: 'cuda:0', impl: 'kernel', threads: undefined })], known)
    expect(missing).toEqual([{ impl: 'scalar', threads: 2 }, { impl: 'avx2', threads: 2 }])
    expect(new Set(ceilingPlan(device, { choices: missing, only: true }).map(({ kind }) => kind.split('@')[1]))).toEqual(new Set(['scalar/2', 'avx2/2']))
    expect(ceilingPlan(device, { choices: [{ impl: 'avx2', threads: 16 }], only: true }).map(({ kind }) => kind)).toContain('flops:f32')
    // One that is too uncertain to use is measured again.
    const uncertain = known.map((one) => ({ ...one, low: one.value / 2, high: 500 * one.value }))
    expect([known, uncertain].map((all) => unmeasuredChoices(device, [on(known[0]!.result.case.impl, known[0]!.result.case.threads!)], all).length)).toEqual([0, 1])
    expect([unmeasuredChoices(device, [], []), unmeasuredChoices(testGpu(), [on('kernel', 1)], [])]).toEqual([[], []])
  })

  it('are listed by choice after those of the whole device', () => {
    const kinds = ['flops:f32@avx2/4', 'copy@scalar/1', 'flops:f32@avx2/1', 'copy@avx2/1', 'flops:f32', 'copy']
    expect(kinds.sort(compareKinds)).toEqual(['copy', 'flops:f32', 'copy@avx2/1', 'flops:f32@avx2/1', 'copy@scalar/1', 'flops:f32@avx2/4'])
    expect(ceilingTitle('copy@avx2/1')).toBe('Copy bandwidth (avx2, 1 thread)')
  })
})

describe('the roofs of a case on a processor', () => {
  /** Each ceiling of every choice with a value of its own: GB/s and GFLOP/s by kind. */
  const measured = (values: Readonly<Record<string, number>>): Ceiling[] =>
    Object.entries(values).map(([kind, value]) => {
      const planned = ceilingPlan(device, { all: true }).find((one) => one.kind === kind)!
      return ceilingOf(device, testResult({ case: planned.case, bytes: 1e6, flops: 1e6, samplesNs: [1e6 / value], summary: { ...testResult().summary!, medianNs: 1e6 / value } }))!
    })
  const ceilings = measured({
    copy: 40, 'flops:f32': 900, 'copy@avx2/1': 10, 'read@avx2/1': 12, 'flops:f32@avx2/1': 110, 'flops:f32@scalar/1': 8, 'copy@scalar/1': 9,
    'cache:L1d@avx2/1': 200, 'cache:L1d:read@avx2/1': 200, 'cache:L2@avx2/1': 100, 'cache:L2:read@avx2/1': 110, 'cache:L3@avx2/1': 80,
  })
  const roofs = (change: Partial<BenchmarkCase>) => roofsOf(ceilings, testCase({ op: 'copy', params: { n: 2 ** 26 }, mode: 'hot', ...change }))
  const giga = (value: number | undefined) => value && Math.round(value / 1e8) / 10

  it('are those of its level and thread count, and those of the whole device where these were not measured', () => {
    expect([giga(roofs({ impl: 'avx2', threads: 1 }).flopsPerSecond), giga(roofs({ impl: 'avx2', threads: 1 }).bytesPerSecond)]).toEqual([110, 10])
    expect([giga(roofs({ impl: 'scalar', threads: 1 }).flopsPerSecond), giga(roofs({ impl: 'scalar', threads: 1 }).bytesPerSecond)]).toEqual([8, 9])
    expect([giga(roofs({ impl: 'avx2', threads: 16 }).flopsPerSecond), giga(roofs({ impl: 'avx2', threads: 4 }).flopsPerSecond)]).toEqual([900, 900])
  })

  it('have no peak of products that only another level has an instruction for', () => {
    const bf16 = testCase({ op: 'peak_mma', params: { n: 256, iterations: 16 }, dtype: 'bf16', impl: 'avx2', threads: 16 })
    const products = { ...ceilings.find(({ kind }) => kind === 'flops:f32')!, kind: 'flops:bf16', value: 2e12, result: testResult({ case: bf16 }) }
    const peak = (impl: string) => giga(roofsOf([...ceilings, products], testCase({ op: 'matmul', dtype: 'bf16', params: { m: 256, n: 256, k: 256 }, mode: 'hot', impl, threads: 16 })).flopsPerSecond)
    expect([peak('avx2'), peak('openblas'), peak('scalar')]).toEqual([2000, 2000, 900])
  })

  it('of a library are the best on as many threads', () => {
    expect(giga(roofs({ impl: 'openblas', threads: 1 }).flopsPerSecond)).toBe(110)
  })

  it('are those of the cache that holds the data of back-to-back calls, and of memory for cold ones', () => {
    const at = (n: number, change: Partial<BenchmarkCase> = {}) => {
      const { cache, bytesPerSecond } = roofs({ params: { n }, ...change })
      return [cache, giga(bytesPerSecond)]
    }
    expect([at(1000), at(2 ** 16), at(2 ** 20), at(2 ** 26)]).toEqual([['L1d', 200], ['L2', 100], ['L3', 80], [undefined, 10]])
    expect(at(1000, { mode: 'cold' })).toEqual([undefined, 10])
    // Levels whose caches were not measured are held against memory, as before.
    expect(at(1000, { impl: 'scalar' })).toEqual([undefined, 9])
  })
})
