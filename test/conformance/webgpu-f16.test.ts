import { checkDropoutMask, checkKernels, checkScatteredHalves } from './harness'
import { ALIKE, describeEngine, VERIFY_WORK } from './webgpu'

/** f16 that is emulated, in the first engine, and what only halves do. */
await describeEngine(0, '?limits=default', ({ backend, device }) => {
  const emulated = device.impls.filter(({ id }) => ALIKE.includes(id))
  checkKernels(backend, { ...device, impls: emulated }, { verifyWork: VERIFY_WORK, alike: ALIKE })
  checkDropoutMask(backend, device, ['f16'])
  checkScatteredHalves(backend, device)
})
