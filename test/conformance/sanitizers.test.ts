import { join } from 'node:path'
import { getOp } from '@core/ops/registry'
import { afterAll, expect, it } from 'vitest'
import { nativeBackends } from '../../main/backends/native'
import { faultsOf, makeCase } from './faults'
import { checkKernels } from './harness'
import { buildKernels, wrongIn } from './native-build'
import { pipedBackend } from './piped'

/**
 * `npm run sanitize [-- level]`: the conformance of the CPU kernels in a build with AddressSanitizer and UndefinedBehaviorSanitizer, whose
 * tensors end where touching memory ends the process (native/cpu/fence.h). Every level of this processor, or the one that is named. A level
 * takes two minutes of one core to build, so `npm test` leaves it out.
 */
const asked = process.env['OPSCOPE_SANITIZE']

if (asked === undefined) {
  it.skip('sanitizers: npm run sanitize checks the kernels with them', () => undefined)
} else {
  const [here] = await nativeBackends().backends.find(({ id }) => id === 'cpu')!.devices()
  const levels = ['scalar', 'sse2', 'avx2', 'avx512', 'neon'].filter((level) => (asked === '' || asked === level) && here!.impls.some(({ id, available }) => id === level && available.ok))
  if (levels.length === 0) throw new Error(`This processor has no level ${asked}.`)
  for (const level of levels) {
    const folder = await buildKernels(`sanitized-${level}`, [level], ['-DOPSCOPE_OPTIMIZE=-O1', '-DCMAKE_CXX_FLAGS=-fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all -g1', '-DCMAKE_EXE_LINKER_FLAGS=-fsanitize=address,undefined'])
    const program = [join(folder, 'opscope_native_test')] as const
    const { backend, device, end } = await pipedBackend(`${level}, sanitized`, program, { UBSAN_OPTIONS: 'print_stacktrace=1' })
    afterAll(end)
    it(`${level}: infinities, NaN and denormals, one element off the alignment`, async () => expect(await wrongIn(program, 'specials')).toEqual([]))
    it(`${level}: an element beyond a tensor ends the process`, async () => {
      const red = await pipedBackend('with kernels that cheat', program, { OPSCOPE_RED_TEAM: '1' })
      const impl = red.device.impls.find(({ id }) => id === 'red-beyond')!
      await expect(faultsOf(red.backend, getOp('add'), makeCase(red.device, impl, getOp('add'), { n: 1000 }, 'f32', 1), 1e6)).rejects.toThrow(/AddressSanitizer: use-after-poison/)
    })
    checkKernels(backend, { ...device, impls: device.impls.filter(({ id }) => id === level) }, { extraThreads: [5] })
  }
}
