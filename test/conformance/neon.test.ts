import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { nativeBackends } from '../../main/backends/native'
import { LIMITS, worstOf } from './accuracy'
import { disassembled, WIDER } from './disassembly'
import { checkKernels } from './harness'
import { buildKernels, fromRoot, missingProgram, wrongIn } from './native-build'
import { pipedBackend } from './piped'
import { WHOLE } from './sizes'

/**
 * The kernels of arm64, cross-compiled and run by an emulator, against the same references as those of this processor. On arm64 itself
 * they are in the addon, and cpu.test.ts checks them.
 */
const missing = process.platform !== 'linux' || process.arch !== 'x64' ? 'kernels of arm64 are emulated on x86-64 Linux only' : missingProgram({ 'aarch64-linux-gnu-g++': 'g++-aarch64-linux-gnu', 'qemu-aarch64': 'qemu-user', cmake: 'cmake', ninja: 'ninja-build' })
const TOOLS = 'aarch64-linux-gnu-'

if (missing !== undefined) {
  it.skip(`NEON: ${missing}`, () => undefined)
} else {
  const folder = await buildKernels('arm64', WHOLE ? ['scalar', 'neon'] : ['neon'], ['-DCMAKE_BUILD_TYPE=Release', `-DCMAKE_TOOLCHAIN_FILE=${fromRoot('native', 'arm64.cmake')}`])
  const program = ['qemu-aarch64', '-L', '/usr/aarch64-linux-gnu', join(folder, 'opscope_native_test')] as const
  const { backend, device, end } = await pipedBackend('arm64, emulated', program)
  afterAll(end)

  it('is a level of arm64 with every kernel and dtype of the others', async () => {
    const [here] = await nativeBackends().backends.find(({ id }) => id === 'cpu')!.devices()
    expect(device.impls.find(({ id }) => id === 'neon')!.kernels).toEqual(here!.impls.find(({ id }) => id === 'scalar')!.kernels)
  })

  it('treats infinities, NaN and denormals as the other levels do', async () => expect(await wrongIn(program, 'specials')).toEqual([]))

  for (const rule of LIMITS) {
    it(`${rule.op} is off by at most ${rule.limit} ${rule.unit}`, async () => {
      expect((await worstOf(backend, device, device.impls.at(-1)!, rule, 20_000, 1)).error).toBeLessThanOrEqual(rule.limit)
    })
  }

  checkKernels(backend, device, { extraThreads: [3], few: true })

  it('has its own instructions, and none that a processor of arm64 may lack', () => {
    const { instructions, symbols } = disassembled(folder, 'neon', TOOLS)
    expect(instructions.some((line) => /\tfmla\s+v\d+\.4s/.test(line))).toBe(true)
    expect(instructions.filter((line) => WIDER['neon']!.test(line)).slice(0, 5)).toEqual([])
    expect(symbols.filter((line) => !line.endsWith('_neon')).slice(0, 5)).toEqual([])
  })

  it.runIf(WHOLE)('has no instruction of NEON in the scalar level of arm64', () => {
    expect(disassembled(folder, 'scalar', TOOLS).instructions.filter((line) => WIDER['scalar of arm64']!.test(line)).slice(0, 5)).toEqual([])
  })
}
