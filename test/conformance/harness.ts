import { type Backend, type Device, type Impl, problemOf } from '@core/backend'
import { type Dtype, type Params, paramText } from '@core/case'
import { isDropped } from '@core/ops/dropout/op'
import { ALL_OPS, getOp } from '@core/ops/registry'
import type { Op } from '@core/ops/types'
import { fillRange, type FillSpec } from '@core/values/random'
import { describe, expect, it } from 'vitest'
import { conformanceParams, Draw, DRAW_SEED, oddParams, WHOLE } from './sizes'
import { faultsOf, makeCase, SEED } from './faults'

export interface ConformanceOptions {
  /** Thread counts to check besides the device's own, e.g. more than it has cores. */
  extraThreads?: readonly number[]
  /** Work of a check, see MeasureSettings.verifyWork; larger outputs are projected or sampled. */
  verifyWork?: number
  /** Also sizes beyond the caches. */
  large?: boolean
  /** Only a few telling sizes. */
  few?: boolean
  /** Odd shapes that are drawn for each kernel; 3 where absent. */
  oddShapes?: number
  /** Implementations that share their plans with another, by id: checked with few sizes. */
  alike?: readonly string[]
}

/** What one implementation of an op is checked with: odd shapes and sizes that are drawn, or in a whole run every size. */
function checksOf(op: Op, device: Device, impl: Impl, dtype: Dtype, threads: readonly (number | undefined)[], { few, large, oddShapes = 3 }: ConformanceOptions): { params: Params; threads: number | undefined }[] {
  const draw = new Draw(`${device.backend} ${impl.id} ${op.id} ${dtype}`)
  const odd = Array.from({ length: WHOLE ? 8 : oddShapes }, () => oddParams(op, draw)).filter((params) => params !== undefined)
  const known = conformanceParams(op, few ? 'few' : 'all')
  const beyond = large ? conformanceParams(op, 'large').map((params) => ({ params, threads: device.threads.at(-1) })) : []
  if (WHOLE) return [...[...odd, ...known].flatMap((params) => threads.map((count) => ({ params, threads: count }))), ...beyond]
  // A composite runs the kernels of its parts, which are checked by themselves.
  const shapes = op.family === 'composite' ? odd.slice(0, 1) : [...odd, ...(known.length > 0 ? [draw.one(known)] : [])]
  const drawn = shapes.map((params) => ({ params, threads: draw.one(threads) }))
  const largeHere = impl.preferred && beyond.length > 0 && new Draw(`${device.backend} ${op.id} large`).one(impl.kernels[op.id]!) === dtype
  return [...drawn, ...(largeHere ? [draw.one(beyond)] : [])]
}

/** One test per op, implementation and dtype that the device says it has. */
export function checkKernels(backend: Backend, device: Device, options: ConformanceOptions = {}): void {
  const { verifyWork: work = 1e8, alike = [] } = options
  const threadChoices: (number | undefined)[] = device.threads.length === 0 ? [undefined] : [...new Set([...device.threads, ...(options.extraThreads ?? [])])]
  console.info(`Conformance of ${device.name}: OPSCOPE_CONFORMANCE_SEED=${DRAW_SEED} repeats it`)
  for (const impl of device.impls.filter((candidate) => candidate.available.ok)) {
    describe(`${device.backend} ${impl.id}`, () => {
      for (const op of ALL_OPS) {
        for (const dtype of impl.kernels[op.id] ?? []) {
          it(`${op.id} ${dtype}`, { timeout: WHOLE ? 1_200_000 : 300_000 }, async () => {
            const wrong: string[] = []
            for (const { params, threads } of checksOf(op, device, impl, dtype, threadChoices, alike.includes(impl.id) ? { ...options, few: true, oddShapes: 1 } : options)) {
              const faults = await faultsOf(backend, op, makeCase(device, impl, op, params, dtype, threads), work)
              wrong.push(...faults.map((fault) => `${paramText(params)} threads=${threads ?? '-'}: ${fault}`))
            }
            expect(wrong).toEqual([])
          })
        }
      }
    })
  }
}

/** Inputs made on the device equal core/values/random.ts bit for bit, seen through `copy`. */
export function checkInputs(backend: Backend, device: Device, dtypes: readonly Dtype[]): void {
  const op = ALL_OPS.find((candidate) => candidate.id === 'copy')
  const impl = device.impls.find((candidate) => candidate.available.ok && candidate.kernels.copy)
  if (!op || !impl) throw new Error(`${device.name} has no copy kernel to see its inputs through`)
  const fills: FillSpec[] = [{ kind: 'normal', scale: 1 }, { kind: 'positive', scale: 0.5 }, { kind: 'uniform', scale: 2 }, { kind: 'integers', below: 201, low: -100 }, { kind: 'permutation', below: 97 }, { kind: 'constant', value: 0.75 }]
  describe(`${device.backend} inputs`, () => {
    for (const dtype of dtypes) {
      for (const fill of fills) {
        it(`${fill.kind} ${dtype}`, async () => {
          for (const [n, seed] of [[1, 0], [70_001, SEED], [4099, 0xffffffff]] as const) {
            const problem = problemOf(op, makeCase(device, impl, op, { n }, dtype, device.threads.at(-1)), seed)
            const prepared = await backend.open({ ...problem, tensors: problem.tensors.map((tensor) => (tensor.role === 'in' ? { ...tensor, fill } : tensor)) })
            try {
              await prepared.poison()
              await prepared.run()
              const expected = fillRange(seed, 0, fill, dtype, 0, n)
              expect(Buffer.compare(Buffer.from((await prepared.read(0, 0, n)).buffer), Buffer.from(expected.buffer))).toBe(0)
            } finally {
              await prepared.dispose()
            }
          }
        })
      }
    }
  })
}

/** topk of rows that have few different values takes the first of equal ones. */
export function checkTies(backend: Backend, device: Device): void {
  const op = getOp('topk')
  const impl = device.impls.find((candidate) => candidate.available.ok && candidate.kernels['topk']?.includes('f32'))
  if (!impl) throw new Error(`${device.name} has no topk kernel in f32`)
  // Values of a row: one; two; and so many that most of those that are kept differ.
  for (const [below, rows, cols, k] of [1, 2, 400].flatMap((count) => [[count, 2, 270_001, 1500], [count, 3, 5003, 40], [count, 2, 40_003, 40]] as const)) {
    it(`topk of ${k} in rows of ${cols} with ${below} different values`, { timeout: 300_000 }, async () => {
      const problem = problemOf(op, makeCase(device, impl, op, { rows, cols, k }, 'f32', device.threads.at(-1)), SEED)
      const fill: FillSpec = { kind: 'integers', below, low: 0 }
      const prepared = await backend.open({ ...problem, tensors: problem.tensors.map((tensor) => (tensor.role === 'in' ? { ...tensor, fill } : tensor)) })
      try {
        const x = fillRange(SEED, 0, fill, 'f32', 0, rows * cols)
        const expected = Array.from({ length: rows }, (_, row) =>
          Array.from({ length: cols }, (_, column) => column).sort((a, b) => x[row * cols + b]! - x[row * cols + a]! || a - b).slice(0, k)).flat()
        // Twice: what a run leaves in scratch memory must not change the next.
        for (let round = 0; round < 2; round++) {
          await prepared.poison()
          await prepared.run()
          expect(Array.from(await prepared.read(1, 0, rows * k))).toEqual(expected)
          expect(Array.from(await prepared.read(0, 0, rows * k))).toEqual(expected.map((column, i) => x[Math.floor(i / k) * cols + column]))
        }
      } finally {
        await prepared.dispose()
      }
    })
  }
}

/** The kernels' dropout zeroes the very elements that core/ops/dropout states, for the seed of the problem and that of a refill. */
export function checkDropoutMask(backend: Backend, device: Device, dtypes: readonly Dtype[]): void {
  const op = getOp('dropout')
  describe(`${device.backend} dropout mask`, () => {
    for (const impl of device.impls.filter((candidate) => candidate.available.ok)) {
      for (const dtype of dtypes.filter((candidate) => impl.kernels['dropout']?.includes(candidate))) {
        it(`${impl.id} ${dtype}`, async () => {
          const [n, p] = [10_007, 0.3]
          const problem = problemOf(op, makeCase(device, impl, op, { n, p }, dtype, device.threads.at(-1)), SEED)
          const prepared = await backend.open(problem)
          try {
            for (const seed of [SEED, 0xfedcba98]) {
              if (seed !== SEED) await prepared.refill(seed)
              await prepared.poison()
              await prepared.run()
              const x = fillRange(seed, 0, problem.tensors[0]!.fill!, dtype, 0, n)
              const out = await prepared.read(0, 0, n)
              const wrong = Array.from(x.keys()).filter((i) => x[i] !== 0 && (out[i] === 0) !== isDropped(seed, p, i))
              expect(wrong).toEqual([])
            }
          } finally {
            await prepared.dispose()
          }
        })
      }
    }
  })
}

/** A shape for each plan of scatter_add: searched cells, registers, lists of halves and vectors and several of a row, own columns, cells of all rows and of a range. */
const SCATTERED: readonly (readonly [rows: number, dim: number, indices: number])[] = [
  [9, 3, 100], [5, 7, 20_001], [16, 1004, 1101], [5000, 33, 6001], [6001, 16, 8001], [9001, 3, 12_001], [300, 13, 5001], [300, 16, 5001], [41, 101, 5501], [200, 5, 10_001], [700, 3, 12_001],
]

/** scatter_add of halves gives the same bits in every run, by each of its plans, and those that the reference asks for. */
export function checkScatteredHalves(backend: Backend, device: Device): void {
  const op = getOp('scatter_add')
  for (const impl of device.impls.filter(({ available, kernels }) => available.ok && kernels['scatter_add']?.includes('f16'))) {
    it(`${impl.id} scatter_add f16 repeats`, { timeout: 300_000 }, async () => {
      for (const [rows, dim, indices] of SCATTERED) {
        const params = { rows, dim, indices }
        expect(await faultsOf(backend, op, makeCase(device, impl, op, params, 'f16', undefined), 2e7, true), paramText(params)).toEqual([])
      }
    })
  }
}

/** Which ops each implementation has kernels for, as a Markdown table; `-` is a hole. */
export function supportTable(device: Device): string {
  const rows = ALL_OPS.map((op) => [op.id, ...device.impls.map((impl) => impl.kernels[op.id]?.join(' ') ?? '-')])
  const header = ['op', ...device.impls.map((impl) => impl.title)]
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
