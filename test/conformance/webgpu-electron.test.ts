import { expect, it } from 'vitest'
import { checkDropoutMask, checkInputs, checkKernels, checkTies } from './harness'
import { ALIKE, describeEngine, isMissing, VERIFY_WORK } from './webgpu'

/** The engine that runs the app, without subgroups: the kernels of the first engine, of which it need only show that it takes them; every size where that is missing. */
await describeEngine(1, '?subgroups=off', ({ backend, device, fact }) => {
  it('computes without the features that it was opened without', () => {
    expect(fact('Subgroups')).toBe('not used')
  })
  checkKernels(backend, device, { verifyWork: VERIFY_WORK, alike: ALIKE, ...(isMissing(0) ? {} : { few: true, oddShapes: 1 }) })
  checkInputs(backend, device, device.impls[0]?.kernels['copy'] ?? [])
  checkTies(backend, device)
  checkDropoutMask(backend, device, ['f32', 'f16'])
})
