import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { STORAGE_TYPES, type Dtype, type Params, type StorageType } from '@core/case'
import { getOp } from '@core/ops/registry'
import { fillWords, type FillSpec } from '@core/values/random'
import { describe, expect, it } from 'vitest'
import { faultsOf, makeCase } from './faults'
import { wrongIn as wrongPart } from './native-build'
import { pipedBackend } from './piped'
import fixture from '../fixtures/random.json'

const run = promisify(execFile)
const build = new URL('../../native/build/', import.meta.url).pathname
const built = existsSync(`${build}build.ninja`)
/** Its parts that need the headers of CUDA. */
const withCuda = built && readFileSync(`${build}build.ninja`, 'utf8').includes('opscope_cuda_case_test')

const LEVELS: readonly string[] = ['scalar', 'sse2', 'avx2', 'avx512', 'neon']
const product = (m: number, n: number, k: number, batch = 1, transB = false) => ({ batch, m, n, k, transA: false, transB })
const of = (op: string, dtype: Dtype, params: Params, threads: number) => ({ op, dtype, params, threads })
/** Shapes for which kernels go other ways there: operands a multiple of a page apart, short sums, rows written once, convolutions of few outputs. */
const FAR_CASES: readonly { op: string; dtype: Dtype; params: Params; threads: number }[] = [1, 3].flatMap((threads) => [
  ...[product(515, 16, 1024), product(300, 13, 2048), product(17, 2048, 300), product(8, 2048, 129), product(61, 4096, 65), product(128, 128, 64, 5), product(65, 64, 127, 3), product(33, 95, 128, 2, true)].map((params) => of('matmul', 'f32', params, threads)),
  ...(['f32', 'f16', 'bf16'] as const).flatMap((dtype) => [
    of('matmul', dtype, product(40, 130, 77), threads),
    of('embedding', dtype, { rows: 5, dim: 300_007, indices: 11 }, threads),
    of('scatter_add', dtype, { rows: 7, dim: 200_003, indices: 19 }, threads),
    of('exp', dtype, { n: 3_000_001 }, threads),
    of('conv3d', dtype, { batch: 2, channels: 8200, filters: 2, depth: 2, height: 1, width: 2, kernel: 2, stride: 1, padding: 1, dilation: 1, groups: 1 }, threads),
    of('conv2d', dtype, { batch: 3, channels: 64, filters: 1, height: 61, width: 59, kernelHeight: 1, kernelWidth: 1, stride: 1, paddingHeight: 0, paddingWidth: 0, dilation: 1, groups: 1 }, threads),
  ]),
])

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
    const wrong: string[] = []
    for (const impl of device.impls.filter(({ id, available }) => available.ok && LEVELS.includes(id)))
      for (const { op, dtype, params, threads } of FAR_CASES) {
        const faults = await faultsOf(backend, getOp(op), makeCase(device, impl, getOp(op), params, dtype, threads), 1e7)
        wrong.push(...faults.map((fault) => `${impl.id} ${op} ${dtype} ${JSON.stringify(params)} threads=${threads}: ${fault}`))
      }
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
