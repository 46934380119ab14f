import { describe, expect, it } from 'vitest'
import { PRESETS, type MeasureSettings } from '../measure/settings'
import { getOp } from '../ops/registry'
import type { Ceiling } from '../session/types'
import { testCase, testDevice, testGpu, testResult } from '../testing'
import { defaultSweep, defaultTargets, TOUR_SECONDS, tourSweep } from './defaults'
import { estimateCaseSeconds, estimateSeconds, withPaces, type Took } from './estimate'
import { planSweep } from './plan'

const quick = PRESETS.quick
const seconds = (change: Parameters<typeof testCase>[0], settings = quick, ceilings: Ceiling[] = []) => estimateCaseSeconds(testCase(change), settings, ceilings)
const copyCeiling = (value: number): Ceiling => ({ backend: 'cpu', device: 'cpu', deviceName: 'CPU', kind: 'copy', value, unit: 'bytes/s', measuredAt: '', result: testResult() })

describe('an estimate', () => {
  it('grows with size, presets and the flush between cold calls', () => {
    expect(seconds({ params: { n: 2 ** 26 } })).toBeGreaterThan(seconds({ params: { n: 2 ** 16 } }))
    expect(seconds({}, PRESETS.thorough)).toBeGreaterThan(seconds({}, quick))
    expect(seconds({ mode: 'cold' })).toBeGreaterThan(seconds({ mode: 'hot' }))
  })

  it('follows the rule: a fixed time takes about that, a fixed count grows with it, and neither lasts beyond the limit', () => {
    const by = (rule: MeasureSettings['rule'], over: Partial<MeasureSettings> = {}) => seconds({}, { ...quick, maxSeconds: 100, ...over, rule })
    const fixed = by({ id: 'fixed-time', seconds: 20 })
    expect(fixed).toBeGreaterThan(20)
    expect(fixed).toBeLessThan(21)
    expect(by({ id: 'fixed-count', count: 10_000 })).toBeGreaterThan(5 * by({ id: 'fixed-count', count: 100 }))
    for (const rule of [{ id: 'fixed-time' as const, seconds: 3000 }, { id: 'fixed-count' as const, count: 1e6 }]) expect(by(rule, { maxSeconds: 2 })).toBeLessThan(4)
  })

  it('of interleaved rounds is by their passes, for cases that have a rival on the processor', () => {
    const rounds = { ...quick, rounds: true }
    const [one, rival] = [testCase({ impl: 'scalar' }), testCase({ impl: 'avx2' })]
    expect(estimateSeconds([one], rounds)).toBe(estimateSeconds([one], quick))
    expect(estimateSeconds([one, rival], rounds)).not.toBe(estimateSeconds([one, rival], quick))
    expect(estimateSeconds([one, rival], { ...rounds, rule: { id: 'fixed-count', count: 9 } })).toBe(estimateSeconds([one, rival], { ...quick, rule: { id: 'fixed-count', count: 9 } }))
    // A longer minimum makes longer passes.
    expect(estimateSeconds([one, rival], { ...rounds, minSeconds: 2 })).toBeGreaterThan(2 * estimateSeconds([one, rival], rounds))
  })

  it('has energy windows for devices with an energy counter, and where it is not known whether there is one', () => {
    const more = (change?: Parameters<typeof testDevice>[0]) => {
      const devices = change ? [testDevice(change)] : []
      return estimateSeconds([testCase()], { ...quick, energy: true }, [], devices) - estimateSeconds([testCase()], quick, [], devices)
    }
    expect([more(), more({}), more({ energyCounter: true })]).toEqual([expect.closeTo(13.2), expect.closeTo(13.2), expect.closeTo(13.2)])
    expect([more({ energyCounter: false }), more({ software: true })]).toEqual([0, 0])
  })

  it('uses the measured speed of the device', () => {
    const large = { params: { n: 2 ** 26 } }
    expect(seconds(large, quick, [copyCeiling(1e9)])).toBeGreaterThan(seconds(large, quick, [copyCeiling(1e12)]))
  })

  it('takes the newest of several drivers', () => {
    const large = { params: { n: 2 ** 26 } }
    const old = { ...copyCeiling(1e9), driver: '1', measuredAt: '2025-01-01T00:00:00Z' }
    const now = { ...copyCeiling(1e12), driver: '2', measuredAt: '2026-01-01T00:00:00Z' }
    for (const both of [[old, now], [now, old]]) expect(seconds(large, quick, both)).toBe(seconds(large, quick, [now]))
  })

  it('uses the measured launch of the mode', () => {
    const launch = (kind: string): Ceiling => ({ ...copyCeiling(0.01), kind, unit: 's' })
    const hot = { params: { n: 100 }, mode: 'hot' as const }
    expect(seconds(hot, quick, [launch('launch:hot')])).toBeGreaterThan(seconds(hot, quick))
    expect(seconds({ ...hot, mode: 'rotated' }, quick, [launch('launch:hot')])).toBeGreaterThan(seconds(hot, quick))
    expect(seconds(hot, quick, [launch('launch:cold')])).toBe(seconds(hot, quick))
  })

  it('stays near the limits of the preset: a quick case takes between a tenth and a few seconds', () => {
    for (const n of [100, 2 ** 16, 2 ** 20, 2 ** 24]) for (const mode of ['hot', 'cold'] as const) expect(seconds({ params: { n }, mode })).toSatisfy((s: number) => s > 0.1 && s < 3)
  })

  it('takes an emulated GPU for slow, whatever it reaches in a copy', () => {
    const c = { backend: 'cuda', device: 'cuda:0', threads: undefined }
    const on = (software: boolean) => estimateCaseSeconds(testCase(c), quick, [{ ...copyCeiling(1e12), backend: 'cuda', device: 'cuda:0' }], [testGpu({ software })])
    expect(on(true)).toBeGreaterThan(3 * on(false))
  })

  it('gives a case of an interpreter a longer set-up and the roofs of the hardware it runs on', () => {
    const interpreter = { path: '/usr/bin/python3', source: 'PATH', packages: [] }
    const onPython = (change = {}, ceilings: Ceiling[] = []) => estimateCaseSeconds(testCase({ backend: 'python', device: 'python:cpu', ...change }), quick, ceilings, [testDevice({ backend: 'python', id: 'python:cpu', interpreter, sameHardwareAs: { backend: 'cpu', id: 'cpu', name: 'Test CPU' } })])
    expect(onPython()).toBeGreaterThan(seconds({}) + 0.3)
    const large = { params: { n: 2 ** 26 } }
    expect(onPython(large, [copyCeiling(1e9)])).toBeGreaterThan(onPython(large, [copyCeiling(1e12)]))
  })

  it('is a number for a case of an op or parameters it does not know', () => {
    expect([seconds({ op: 'gone' }), seconds({ params: {} })].every((s) => s > 0 && s < 1)).toBe(true)
    expect(estimateSeconds([], quick)).toBe(0)
  })
})

describe('default sweeps', () => {
  const devices = [testDevice(), testGpu(), testGpu({ backend: 'webgpu', id: 'webgpu:0', software: true, impls: [{ ...testGpu().impls[0]!, id: 'wgsl' }] })]

  it('leave other libraries on the same hardware to the user', () => {
    const python = testDevice({ backend: 'python', id: 'python:cpu', sameHardwareAs: { backend: 'cpu', id: 'cpu', name: 'Test CPU' } })
    for (const sweep of [defaultSweep, tourSweep]) expect(sweep([...devices, python]).targets).toEqual(sweep(devices).targets)
    expect(defaultTargets([python])).toEqual([])
  })

  it('take the preferred implementation of every device that can be used, with all threads', () => {
    expect(defaultTargets(devices)).toEqual([
      { backend: 'cpu', device: 'cpu', impls: ['avx2'], threads: [4] },
      { backend: 'cuda', device: 'cuda:0', impls: ['kernel'] },
    ])
    expect(defaultTargets([testDevice({ available: { ok: false, reason: 'x' } })])).toEqual([])
  })

  it('leave an emulated device alone where there is a real one, and take it where there is none', () => {
    expect(defaultTargets([devices[2]!, testDevice()]).map((t) => t.device)).toEqual(['cpu'])
    expect(defaultTargets([devices[2]!, testDevice({ available: { ok: false, reason: 'x' } })]).map((t) => t.device)).toEqual(['webgpu:0'])
  })

  it('the one without a display plans cases on each device and takes well under two minutes', () => {
    const plan = planSweep(defaultSweep(devices), devices)
    expect(plan.problems).toEqual([])
    expect(new Set(plan.cases.map((c) => c.backend))).toEqual(new Set(['cpu', 'cuda']))
    expect(estimateSeconds(plan.cases, quick)).toBeLessThan(60)
  })

  it('take one or two operations of each family, only those that the devices have kernels for', () => {
    const families = new Map<string, Set<string>>()
    for (const { op } of planSweep(defaultSweep(devices), devices).cases) families.set(getOp(op).family, (families.get(getOp(op).family) ?? new Set()).add(op))
    for (const ops of families.values()) expect(ops.size).toBeLessThanOrEqual(2)
    const poor = testDevice()
    const only = { ...poor, impls: poor.impls.map((impl) => ({ ...impl, kernels: { softmax: ['f32' as const] } })) }
    expect(defaultSweep([only]).ops).toEqual([{ op: 'softmax' }])
  })

  it('the tour fits its two minutes on one device as on many, and uses the time', () => {
    const many = [...devices, ...[1, 2, 3, 4, 5].map((i) => testGpu({ id: `cuda:${i}` }))]
    for (const list of [[testDevice()], devices, many]) {
      const plan = planSweep(tourSweep(list), list)
      expect(plan.cases.length).toBeGreaterThan(5)
      expect(plan.problems).toEqual([])
      expect(estimateSeconds(plan.cases, quick)).toBeLessThanOrEqual(TOUR_SECONDS)
    }
    expect(planSweep(tourSweep([testDevice()]), [testDevice()]).cases.length).toBeGreaterThan(planSweep(defaultSweep([testDevice()]), [testDevice()]).cases.length)
  })

  it('with no device there is nothing to run, and that is said', () => {
    expect(planSweep(defaultSweep([]), []).problems).toContain('no device is picked')
  })
})

describe('estimates with a history', () => {
  const { quick, standard } = PRESETS
  const large = { params: { n: 2 ** 26 } }
  /** What a case took: `factor` times its plain estimate. */
  const took = (factor: number, change: Parameters<typeof testCase>[0] = {}, settings = quick): Took => {
    const c = testCase(change)
    return { case: c, deviceName: 'Test CPU', settings, wallSeconds: factor * estimateCaseSeconds(c, settings, [], [testDevice()]) }
  }
  const paced = (history: readonly Took[]) => withPaces([testDevice()], history, [])
  /** Estimate with this history over the one without. */
  const ratio = (history: readonly Took[], change: Parameters<typeof testCase>[0] = {}, settings = quick) =>
    estimateCaseSeconds(testCase(change), settings, [], paced(history)) / estimateCaseSeconds(testCase(change), settings, [], [testDevice()])

  it('come to what the same cases took, all of them together', () => {
    const history = [took(3, large), took(1.5), took(0.5, { op: 'gelu' })]
    const cases = history.map(({ case: c }) => c)
    const estimated = cases.reduce((sum, c) => sum + estimateCaseSeconds(c, quick, [], paced(history)), 0)
    expect(estimated).toBeCloseTo(history.reduce((sum, { wallSeconds }) => sum + wallSeconds, 0), 9)
  })

  it('take a case that compiles now and then as long as it takes on the whole', () => {
    expect(ratio([took(21), ...Array.from({ length: 9 }, () => took(1))])).toBeCloseTo(3, 9)
  })

  it('go by the newest ten of a kind', () => {
    expect(ratio([...Array.from({ length: 10 }, () => took(2)), took(100), took(100)])).toBeCloseTo(2, 9)
  })

  it('go by what is nearest: the op, then the size, then the implementation', () => {
    const history = [took(4, large), took(2, { op: 'gelu' })]
    expect(ratio(history, { op: 'gelu' })).toBeCloseTo(2, 9)
    expect(ratio(history, { ...large, op: 'copy' })).toBeCloseTo(4, 0)
    // Another preset spends its time on other parts: only what any case of the implementation took is known.
    expect(ratio(history, { op: 'gelu' }, standard)).toBeGreaterThan(1)
    expect(ratio(history, { impl: 'scalar' })).toBe(1)
  })

  it('take nothing from a device of another name', () => {
    expect(ratio([{ ...took(5), deviceName: 'Another CPU' }])).toBe(1)
    expect(paced([{ ...took(5), deviceName: 'Another CPU' }])).toEqual([testDevice()])
  })
})
