import { problemOf, type Backend, type Device, type Impl } from '@core/backend'
import { paramText, type BenchmarkCase, type Dtype, type Params } from '@core/case'
import { createVerifier } from '@core/measure/verify/verify'
import { ALL_OPS } from '@core/ops/registry'
import type { Op } from '@core/ops/types'
import { fillRange, type FillSpec } from '@core/random'
import { describe, expect, it } from 'vitest'
import { conformanceParams } from './sizes'

export interface ConformanceOptions {
  /** Thread counts to check besides the device's own, e.g. more than it has cores. */
  extraThreads?: readonly number[]
  /** Reference work per case, see MeasureSettings.verifyWork; larger outputs are sampled. */
  verifyWork?: number
  /** Also sizes beyond the caches. */
  large?: boolean
  /** Only a few telling sizes. */
  few?: boolean
}

const SEED = 20260101
const pause = () => Promise.resolve()

const makeCase = (device: Device, impl: Impl, op: Op, params: Params, dtype: Dtype, threads: number | undefined): BenchmarkCase => ({
  op: op.id, params, dtype, backend: device.backend, impl: impl.id, device: device.id, mode: 'hot', threads,
})

/** What is wrong with one case: poisoned, run twice, and compared with its float64 reference. Empty when nothing is. */
async function faultsOf(backend: Backend, op: Op, c: BenchmarkCase, work: number): Promise<string[]> {
  const problem = problemOf(op, c, SEED)
  const prepared = await backend.open(problem)
  try {
    const faults: string[] = []
    await prepared.poison()
    const untouched = await prepared.countUnwritten()
    if (untouched !== problem.outputElements) faults.push(`poison left ${problem.outputElements - untouched} of ${problem.outputElements} elements`)
    const verifier = createVerifier(op, c, SEED, work)
    // Twice: what the first run leaves in scratch memory must not change the second.
    for (const round of ['first', 'second']) {
      if (round === 'second') await prepared.poison()
      await prepared.run()
      const verdict = await verifier.check(prepared, 'before', pause)
      if (!verdict.ok) faults.push(`${round} run: ${verdict.message ?? 'wrong'}`)
    }
    return faults
  } finally {
    await prepared.dispose()
  }
}

/** One test per op, implementation and dtype that the device says it has: every size, variant and thread count. */
export function checkKernels(backend: Backend, device: Device, options: ConformanceOptions = {}): void {
  const work = options.verifyWork ?? 2e6
  const threadChoices: (number | undefined)[] = device.threads.length === 0 ? [undefined] : [...new Set([...device.threads, ...(options.extraThreads ?? [])])]
  for (const impl of device.impls.filter((candidate) => candidate.available.ok)) {
    describe(`${device.backend} ${impl.id}`, () => {
      for (const op of ALL_OPS) {
        for (const dtype of impl.kernels[op.id] ?? []) {
          it(`${op.id} ${dtype}`, async () => {
            const wrong: string[] = []
            const check = async (params: Params, threads: number | undefined) => {
              const faults = await faultsOf(backend, op, makeCase(device, impl, op, params, dtype, threads), work)
              wrong.push(...faults.map((fault) => `${paramText(params)} threads=${threads ?? '-'}: ${fault}`))
            }
            for (const params of conformanceParams(op, options.few ? 'few' : 'all')) for (const threads of threadChoices) await check(params, threads)
            if (options.large) for (const params of conformanceParams(op, 'large')) await check(params, device.threads.at(-1))
            expect(wrong).toEqual([])
          })
        }
      }
    })
  }
}

/** Inputs made on the device equal core/random.ts bit for bit, seen through `copy`. */
export function checkInputs(backend: Backend, device: Device, dtypes: readonly Dtype[]): void {
  const op = ALL_OPS.find((candidate) => candidate.id === 'copy')
  const impl = device.impls.find((candidate) => candidate.available.ok && candidate.kernels.copy)
  if (!op || !impl) throw new Error(`${device.name} has no copy kernel to see its inputs through`)
  const fills: FillSpec[] = [{ kind: 'normal', scale: 1 }, { kind: 'positive', scale: 0.5 }]
  describe(`${device.backend} inputs`, () => {
    for (const dtype of dtypes) {
      for (const fill of fills) {
        it(`${fill.kind} ${dtype}`, async () => {
          for (const [n, seed] of [[1, 0], [70_001, SEED], [4099, 0xffffffff]] as const) {
            const problem = problemOf(op, makeCase(device, impl, op, { n }, dtype, device.threads.at(-1)), seed)
            const prepared = await backend.open({ ...problem, inputs: [{ elements: n, fill }] })
            try {
              await prepared.poison()
              await prepared.run()
              const expected = fillRange(seed, 0, fill, dtype, 0, n)
              expect(Buffer.compare(Buffer.from((await prepared.read(0, n)).buffer), Buffer.from(expected.buffer))).toBe(0)
            } finally {
              await prepared.dispose()
            }
          }
        })
      }
    }
  })
}

/** Which ops each implementation has kernels for, as a Markdown table; `-` is a hole. */
export function supportTable(device: Device): string {
  const rows = ALL_OPS.map((op) => [op.id, ...device.impls.map((impl) => impl.kernels[op.id]?.join(' ') ?? '-')])
  const header = ['op', ...device.impls.map((impl) => impl.title)]
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
