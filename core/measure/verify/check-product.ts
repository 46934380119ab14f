import type { MatrixProduct } from '../../ops/types'
import type { Difference } from './difference'
import type { Findings } from './outcome'
import type { Range } from './plan'
import { blocksAcross, type Blocks } from './product'
import { compareRanges, type Check, type OutputReader } from './read'
import type { ReferenceProblem } from './reference'

/** Elements that one task reads at most, of factors and of the output. */
const TASK_ELEMENTS = 1 << 21
/** Share of the work that the blocks which stand out may take, and how many they are at least and at most. */
const SUSPECT_SHARE = 1 / 8
const SUSPECTS = { min: 4, max: 128 }
/** Work units of one element of such a block: its inputs are made for its row alone. */
const SUSPECT_UNIT = 8

interface Suspect {
  score: number
  batch: number
  row: number
  col: number
}

/** The blocks with the highest scores, in any order. */
class Worst {
  readonly #most: number
  #list: Suspect[] = []
  #floor = 0

  constructor(most: number) {
    this.#most = most
  }

  add(suspect: Suspect): void {
    if (suspect.score <= this.#floor) return
    this.#list.push(suspect)
    if (this.#list.length >= 2 * this.#most) this.list()
  }

  list(): readonly Suspect[] {
    this.#list = this.#list.sort((a, b) => b.score - a.score).slice(0, this.#most)
    if (this.#list.length === this.#most) this.#floor = this.#list.at(-1)!.score
    return this.#list
  }
}

/** Projects the whole output block by block (product.ts), then compares the blocks that stand out element by element. */
export async function checkProduct(problem: ReferenceProblem, { product, blocks }: { product: MatrixProduct; blocks: Blocks }, reader: OutputReader, check: Check): Promise<Required<Pick<Findings, 'projected' | 'suspects' | 'nonFinite'>>> {
  const { op, params, dtype, output } = problem
  // The absolute part of an element's bound is eight standard deviations of what arithmetic adds (core/ops/define.ts).
  const arithmetic = op.tolerance(params, dtype, output).element.abs / 8
  const area = blocks.tall * blocks.wide
  const affordable = Math.floor((check.work * SUSPECT_SHARE) / (area * product.inner * SUSPECT_UNIT))
  const worst = new Worst(Math.max(SUSPECTS.min, Math.min(SUSPECTS.max, affordable)))
  const sums = { squaredError: 0, squaredOutput: 0, nonFinite: 0, values: 0 }
  const context = { problem, product, blocks, reader, check, arithmetic, worst, sums }
  const pending = new Set<Promise<void>>()
  for (let batch = 0; batch < product.batch; batch++) {
    const task: Promise<void> = projectBatch(context, batch).then(() => void pending.delete(task))
    pending.add(task)
    if (pending.size >= check.pool.lanes) await Promise.race(pending)
    await check.pause()
  }
  await Promise.all(pending)
  const { nonFinite, ...projected } = sums
  return { projected, nonFinite, suspects: await compareBlocks(context, worst.list()) }
}

interface Context {
  problem: ReferenceProblem
  product: MatrixProduct
  blocks: Blocks
  reader: OutputReader
  check: Check
  arithmetic: number
  worst: Worst
  sums: { squaredError: number; squaredOutput: number; nonFinite: number; values: number }
}

/** Shared by all threads where memory can be. */
const sharedArray = (length: number): Float64Array => new Float64Array(typeof SharedArrayBuffer === 'function' ? new SharedArrayBuffer(length * 8) : new ArrayBuffer(length * 8))

async function projectBatch({ problem, product, blocks, reader, check, arithmetic, worst, sums }: Context, batch: number): Promise<void> {
  const { rows, inner, cols } = product
  const { pool, pause } = check
  const perRow = blocksAcross(product, blocks) * 2
  const right = sharedArray(inner * perRow)
  const slice = Math.max(1, Math.min(Math.ceil(inner / pool.lanes), Math.floor(TASK_ELEMENTS / cols)))
  const rights: Promise<void>[] = []
  for (let from = 0; from < inner; from += slice) {
    const task = { kind: 'right', blocks, batch, from, count: Math.min(slice, inner - from) } as const
    rights.push(pool.run(problem, task, batch + from / slice).then((part) => {
      for (let row = 0; row < perRow; row++) right.set(part.subarray(row * task.count, (row + 1) * task.count), row * inner + from)
    }))
  }
  await Promise.all(rights)
  const fitting = Math.min(Math.ceil(rows / pool.lanes), Math.floor(TASK_ELEMENTS / Math.max(cols, inner)))
  const height = blocks.tall * Math.max(1, Math.floor(fitting / blocks.tall))
  const pending = new Set<Promise<void>>()
  for (let row = 0; row < rows; row += height) {
    const count = Math.min(height, rows - row)
    const values = await reader.read(problem.output, [{ start: (batch * rows + row) * cols, count: count * cols }])
    const task: Promise<void> = pool.run(problem, { kind: 'product', blocks, batch, row, rows: count, values, right, arithmetic }, batch + row / height).then(({ scores, squaredError, squaredOutput, nonFinite }) => {
      sums.squaredError += squaredError
      sums.squaredOutput += squaredOutput
      sums.nonFinite += nonFinite
      sums.values += scores.length
      scores.forEach((score, i) => worst.add({ score, batch, row: row + Math.floor(i / (perRow / 2)) * blocks.tall, col: (i % (perRow / 2)) * blocks.wide }))
      pending.delete(task)
    })
    pending.add(task)
    if (pending.size >= 2 * pool.lanes) await Promise.race(pending)
    await pause()
  }
  await Promise.all(pending)
}

/** Compares whole blocks, in the order of their places. */
function compareBlocks({ problem, product, blocks, reader, check }: Context, suspects: readonly Suspect[]): Promise<Difference> {
  const { rows, cols } = product
  const ranges = suspects.flatMap(({ batch, row, col }) =>
    Array.from({ length: Math.min(blocks.tall, rows - row) }, (_, i): Range => ({ start: (batch * rows + row + i) * cols + col, count: Math.min(blocks.wide, cols - col) })),
  )
  return compareRanges(problem, reader, ranges.sort((a, b) => a.start - b.start), check)
}
