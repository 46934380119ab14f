import { describe, expect, it } from 'vitest'
import { testDevice, testGpu, testResult } from '../testing'
import { ceilingCases, ceilingOf } from './ceilings'

const short = (cases: ReturnType<typeof ceilingCases>) => cases.map((c) => `${c.op} ${c.dtype} ${c.impl} ${c.mode} ${c.threads ?? '-'}`)

describe('ceilingCases', () => {
  it('copies beyond the caches and takes every peak there is a kernel for, with the preferred implementation and all threads', () => {
    expect(short(ceilingCases(testDevice()))).toEqual(['copy f32 avx2 hot 4', 'peak_fma f32 avx2 hot 4'])
    expect(short(ceilingCases(testGpu()))).toEqual(['copy f32 kernel hot -', 'peak_fma f32 kernel hot -', 'peak_mma f16 kernel hot -', 'peak_mma bf16 kernel hot -'])
    expect(ceilingCases(testGpu())[0]!.params).toEqual({ n: 2 ** 26 })
  })

  it('shrinks to what the device can hold', () => {
    expect(ceilingCases(testGpu({ memoryBytes: 2 ** 28 }))[0]!.params).toEqual({ n: 2 ** 25 })
    expect(ceilingCases(testGpu({ maxTensorBytes: 2 ** 26 }))[0]!.params).toEqual({ n: 2 ** 24 })
    expect(ceilingCases(testGpu({ software: true }))[0]!.params).toEqual({ n: 2 ** 22 })
    expect(short(ceilingCases(testGpu({ memoryBytes: 100 })))).not.toContain('copy f32 kernel hot -')
  })

  it('has none for a device that is missing, and takes another implementation where the preferred one is', () => {
    expect(ceilingCases(testDevice({ available: { ok: false, reason: 'gone' } }))).toEqual([])
    const [scalar, avx2] = testDevice().impls
    expect(short(ceilingCases(testDevice({ impls: [scalar!, { ...avx2!, available: { ok: false, reason: 'no AVX2' } }] })))[0]).toBe('copy f32 scalar hot 4')
  })
})

describe('ceilingOf', () => {
  const [copy, peak] = ceilingCases(testDevice())
  const summary = { ...testResult().summary!, medianNs: 2000 }

  it('turns a result into a rate per second', () => {
    expect(ceilingOf(testDevice(), testResult({ case: copy!, bytes: 8000, summary }))).toMatchObject({ kind: 'copy', value: 4e9, unit: 'bytes/s', deviceName: 'Test CPU' })
    expect(ceilingOf(testDevice(), testResult({ case: peak!, flops: 1e6, summary }))).toMatchObject({ kind: 'flops:f32', value: 5e11, unit: 'FLOP/s' })
  })

  it('takes nothing from a wrong, failed or foreign result', () => {
    const good = testResult({ case: copy!, summary })
    expect(ceilingOf(testDevice(), { ...good, status: 'wrong' })).toBeUndefined()
    expect(ceilingOf(testDevice(), { ...good, summary: undefined })).toBeUndefined()
    expect(ceilingOf(testGpu(), good)).toBeUndefined()
    expect(ceilingOf(testDevice(), testResult({ summary }))).toBeUndefined()
  })
})
