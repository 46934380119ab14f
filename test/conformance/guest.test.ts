import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { STORAGE_TYPES, type StorageType } from '@core/case'
import { fillWords, type FillSpec } from '@core/values/random'
import { describe, expect, it } from 'vitest'
import { wrongFarFrom } from './far'
import { wrongIn as wrongPart } from './native-build'
import { pipedBackend } from './piped'
import fixture from '../fixtures/random.json'

const run = promisify(execFile)
const build = new URL('../../native/build/', import.meta.url).pathname
const built = existsSync(`${build}build.ninja`)
/** Its parts that need the headers of CUDA. */
const withCuda = built && readFileSync(`${build}build.ninja`, 'utf8').includes('opscope_cuda_case_test')

/** Builds a C++ test and gives the lines of it that say that something is wrong; throws when it fails. */
async function wrongIn(target: string): Promise<string[]> {
  await run('cmake', ['--build', build, '--target', target])
  const { stdout } = await run(`${build}${target}`)
  return stdout.split('\n').filter((line) => line.includes('WRONG'))
}

describe.runIf(built)('native code without Node', () => {
  it('times a guest on the CPU through the C functions', async () => expect(await wrongIn('opscope_guest_test')).toEqual([]))
  it('reads counters of energy', async () => expect(await wrongIn('opscope_energy_test')).toEqual([]))
  it('reads clocks, rotations, states and holders without a GPU', async () => expect(await wrongIn('opscope_cuda_test')).toEqual([]))

  it.runIf(withCuda)('finds writes beside tensors and workspaces of a CUDA case, and names kernels that fault, without a GPU', async () => expect(await wrongIn('opscope_cuda_case_test')).toEqual([]), 600_000)

  it('treats infinities, NaN and denormals alike on every level of the CPU, binds one thread to a core first, and reads hardware counters', async () => {
    await run('cmake', ['--build', build, '--target', 'opscope_native_test'])
    for (const part of ['specials', 'threads', 'caches', 'counters'] as const) expect(await wrongPart([`${build}opscope_native_test`], part)).toEqual([])
  }, 600_000)

  it('computes the same where the last-level cache is far from a core, on every level', async () => {
    await run('cmake', ['--build', build, '--target', 'opscope_native_test'])
    const { backend, device, end } = await pipedBackend('with a distant cache', [`${build}opscope_native_test`], { OPSCOPE_DISTANT_CACHE: '1' })
    const wrong = await wrongFarFrom(backend, device)
    end()
    expect(wrong).toEqual([])
  }, 600_000)

  it('fills tensors of every storage type with the bits NumPy gives', async () => {
    await run('cmake', ['--build', build, '--target', 'opscope_native_test'])
    const asked = fixture.tensors.flatMap(({ seed, stream, fill, start, bits }) =>
      Object.entries(bits).map(([storage, expected]) => {
        const { kind, key0, key1, factor, low, below } = fillWords(fill as FillSpec, seed, stream)
        const factorBits = new Uint32Array(Float32Array.of(factor).buffer)[0]!
        return { line: [STORAGE_TYPES.indexOf(storage as StorageType), kind, key0, key1, factorBits, low, below, start].join(' '), expected: expected.join(' ') }
      }),
    )
    const running = run(`${build}opscope_native_test`, ['fills'])
    running.child.stdin?.end(asked.map(({ line }) => `${line}\n`).join(''))
    const printed = (await running).stdout.trim().split('\n')
    expect(asked.map(({ line }, i) => ({ line, bits: printed[i] }))).toEqual(asked.map(({ line, expected }) => ({ line, bits: expected })))
  }, 600_000)

  const python = '/usr/bin/python3'
  it.runIf(existsSync(python))('serves NumPy through ctypes', async ({ skip }) => {
    const numpy = await run(python, ['-c', 'import numpy']).then(() => true, () => false)
    if (!numpy) skip('that Python has no NumPy')
    const check = new URL('../../native/guest/tools/ctypes_check.py', import.meta.url).pathname
    expect((await run(python, [check])).stdout).toMatch(/asking for nothing costs/)
  })
})
