import { join } from 'node:path'
import { getOp } from '@core/ops/registry'
import { afterAll, expect, it } from 'vitest'
import { nativeBackends } from '../../main/backends/native'
import { CPU_LEVELS, wrongFarFrom } from './far'
import { faultsOf, makeCase } from './faults'
import { checkKernels } from './harness'
import { buildKernels, wrongIn } from './native-build'
import { pipedBackend } from './piped'

/**
 * `npm run sanitize [-- level [memory|threads]]`: the conformance of the CPU kernels in a build with sanitizers, as for any processor and as where the last-level
 * cache is far (far.ts). Every level of this processor, or the one that is named. A level takes two minutes of one core to build, so `npm test` leaves it out.
 *
 * memory: AddressSanitizer and UndefinedBehaviorSanitizer; tensors and scratch end where touching memory ends the process (native/cpu/fence.h).
 * threads: ThreadSanitizer, on 2, 3 and 5 threads; it does not see loads and stores with masks.
 */
const asked = process.env['OPSCOPE_SANITIZE']
const ofThreads = process.env['OPSCOPE_SANITIZE_OF'] === 'threads'

if (asked === undefined) {
  it.skip('sanitizers: npm run sanitize checks the kernels with them', () => undefined)
} else {
  const [here] = await nativeBackends().backends.find(({ id }) => id === 'cpu')!.devices()
  const levels = CPU_LEVELS.filter((level) => (asked === '' || asked === level) && here!.impls.some(({ id, available }) => id === level && available.ok))
  if (levels.length === 0) throw new Error(`This processor has no level ${asked}.`)
  const [kind, flags] = ofThreads ? ['threads', '-fsanitize=thread -Wno-tsan'] : ['sanitized', '-fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all']
  for (const level of levels) {
    const folder = await buildKernels(`${kind}-${level}`, [level], ['-DOPSCOPE_OPTIMIZE=-O1', `-DCMAKE_CXX_FLAGS=${flags} -g1`, `-DCMAKE_EXE_LINKER_FLAGS=${flags.split(' ')[0]}`])
    const program = [join(folder, 'opscope_native_test')] as const
    const options = { UBSAN_OPTIONS: 'print_stacktrace=1', TSAN_OPTIONS: 'halt_on_error=1 exitcode=66' }
    const { backend, device, end } = await pipedBackend(`${level}, sanitized`, program, options)
    const far = await pipedBackend(`${level}, sanitized, with a distant cache`, program, { ...options, OPSCOPE_DISTANT_CACHE: '1' })
    afterAll(end)
    afterAll(far.end)
    const own = device.impls.filter(({ id }) => id === level)
    it(`${level}: as where the last-level cache is far`, { timeout: 1_200_000 }, async () => expect(await wrongFarFrom(far.backend, far.device)).toEqual([]))
    if (ofThreads) {
      it(`${level}: two threads that write the same memory end the process`, async () => {
        const red = await pipedBackend('with kernels that cheat', program, { ...options, OPSCOPE_RED_TEAM: '1' })
        const impl = red.device.impls.find(({ id }) => id === 'red-race')!
        await expect(faultsOf(red.backend, getOp('add'), makeCase(red.device, impl, getOp('add'), { n: 100_000 }, 'f32', 2), 1e6)).rejects.toThrow(/ThreadSanitizer: data race/)
      })
      checkKernels(backend, { ...device, impls: own, threads: [2] }, { extraThreads: [3, 5], large: true })
      continue
    }
    it(`${level}: infinities, NaN and denormals, one element off the alignment`, async () => expect(await wrongIn(program, 'specials')).toEqual([]))
    it(`${level}: an element beyond a tensor ends the process`, async () => {
      const red = await pipedBackend('with kernels that cheat', program, { OPSCOPE_RED_TEAM: '1' })
      const impl = red.device.impls.find(({ id }) => id === 'red-beyond')!
      await expect(faultsOf(red.backend, getOp('add'), makeCase(red.device, impl, getOp('add'), { n: 1000 }, 'f32', 1), 1e6)).rejects.toThrow(/AddressSanitizer: use-after-poison/)
    })
    checkKernels(backend, { ...device, impls: own }, { extraThreads: [5], large: true })
  }
}
