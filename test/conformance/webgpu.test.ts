import { expect, it } from 'vitest'
import { checkDropoutMask, checkInputs, checkKernels, checkTies } from './harness'
import { ALIKE, describeEngine, VERIFY_WORK } from './webgpu'

/** The specification's smallest limits, and subgroups where the adapter has them. Emulated f16: webgpu-f16.test.ts. */
await describeEngine(0, '?limits=default', ({ backend, device, fact }) => {
  it('computes within the limits that it was opened with', () => {
    expect(fact('Workgroup memory')).toBe('16384 B')
  })
  it('says which subgroup matrices the adapter offers', () => {
    expect(fact('Subgroup matrices')).toMatch(/^(not offered|offered; not used|(f16|i8) with sums in )/)
  })
  const own = device.impls.filter(({ id }) => !ALIKE.includes(id))
  checkKernels(backend, { ...device, impls: own }, { verifyWork: VERIFY_WORK })
  checkInputs(backend, device, device.impls[0]?.kernels['copy'] ?? [])
  checkTies(backend, device)
  checkDropoutMask(backend, device, ['f32'])
})
