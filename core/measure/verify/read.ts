import { CaseError, type PreparedCase } from '../../backend'
import type { Values } from '../../values/numbers'
import { mergeDifference, noDifference, type Difference } from './difference'
import { CHUNK, chunksOf, COST, type Range } from './plan'
import { inlinePool, type VerifyPool } from './pool'
import type { ReferenceProblem } from './reference'

/** More ranges than this within one chunk are cut out of the whole chunk: a read from the device costs more than its bytes. */
const SEPARATE = 24

/** What a check may use: threads, work units of them all, and a turn of the event loop that throws where the case was cancelled. */
export interface Check {
  pool: VerifyPool
  work: number
  pause: () => Promise<void>
}

/** Reads outputs of one case, one read at a time. */
export class OutputReader {
  #last: Promise<unknown> = Promise.resolve()

  constructor(readonly prepared: PreparedCase) {}

  /** The elements of these ranges, which are in order, one after the other. */
  read(output: number, ranges: readonly Range[]): Promise<Values> {
    const next = this.#last.then(() => this.#readAll(output, ranges))
    this.#last = next.catch(() => undefined)
    return next
  }

  async #readAll(output: number, ranges: readonly Range[]): Promise<Values> {
    const one = ranges.length === 1 ? ranges[0] : undefined
    if (one) return await this.#readOne(output, one)
    const elements = ranges.reduce((sum, { count }) => sum + count, 0)
    const [first, last] = [ranges[0]!, ranges.at(-1)!]
    const span = last.start + last.count - first.start
    if (ranges.length > SEPARATE && span <= CHUNK) {
      const stretch = { start: first.start, count: span }
      if (this.prepared.readWithin) return expectLength(await this.prepared.readWithin(output, stretch, ranges), { count: elements })
      const whole = await this.#readOne(output, stretch)
      return joined(ranges.map(({ start, count }) => whole.subarray(start - first.start, start - first.start + count)), elements)
    }
    const parts: Values[] = []
    if (this.prepared.readRanges) parts.push(...(await this.prepared.readRanges(output, ranges)))
    else for (const { start, count } of ranges) parts.push(await this.prepared.read(output, start, count))
    ranges.forEach((range, i) => expectLength(parts[i], range))
    return joined(parts, elements)
  }

  async #readOne(output: number, range: Range): Promise<Values> {
    return expectLength(await this.prepared.read(output, range.start, range.count), range)
  }
}

function expectLength(values: Values | undefined, { count }: Pick<Range, 'count'>): Values {
  if (values?.length !== count) throw new CaseError('internal', `The backend returned ${values?.length ?? 0} output elements where ${count} were asked for.`)
  return values
}

function joined(parts: readonly Values[], elements: number): Values {
  const first = parts[0] ?? new Float32Array(0)
  const out: Values = first instanceof Int32Array ? new Int32Array(elements) : first instanceof Int8Array ? new Int8Array(elements) : first instanceof Uint8Array ? new Uint8Array(elements) : new Float32Array(elements)
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}

/** Ranges in groups that lie within one chunk each: a group is one read and one task. */
function grouped(ranges: readonly Range[]): Range[][] {
  const groups: Range[][] = []
  for (const range of ranges) {
    const group = groups.at(-1)
    if (group && range.start + range.count - group[0]!.start <= CHUNK) group.push(range)
    else groups.push([range])
  }
  return groups
}

/** Work units of all ranges below which they are compared in the calling thread: to start the threads takes longer. */
const WORTH_SENDING = 3e6

/** Compares ranges on all threads, a few reads ahead of them. */
export async function compareRanges(problem: ReferenceProblem, reader: OutputReader, ranges: readonly Range[], { pool: threads, pause }: Check): Promise<Difference> {
  const { op, params, output } = problem
  const elements = ranges.reduce((sum, { count }) => sum + count, 0)
  const pool = elements * (COST.element + COST.unit * op.referenceCost(params, output)) < WORTH_SENDING ? inlinePool : threads
  const total = noDifference()
  const pending = new Set<Promise<void>>()
  for (const [i, group] of grouped(ranges).entries()) {
    const values = await reader.read(problem.output, group)
    const task: Promise<void> = pool.run(problem, { kind: 'compare', ranges: group, values }, i).then((part) => {
      mergeDifference(total, part)
      pending.delete(task)
    })
    pending.add(task)
    if (pending.size >= 2 * pool.lanes) await Promise.race(pending)
    await pause()
  }
  await Promise.all(pending)
  return total
}

/** A hash of the bits of these chunks of an output, and how many of their elements are not finite. */
export async function hashOf(reader: OutputReader, output: number, chunks: readonly Range[], pause: () => Promise<void>): Promise<{ hash: number; nonFinite: number }> {
  let hash = 0x811c9dc5
  let nonFinite = 0
  for (const chunk of chunks) {
    const values = await reader.read(output, [chunk])
    const bits = values instanceof Float32Array ? new Uint32Array(values.buffer, values.byteOffset, values.length) : values
    for (let i = 0; i < values.length; i++) {
      if (!Number.isFinite(values[i]!)) nonFinite++
      hash = Math.imul(hash ^ bits[i]!, 0x01000193)
      hash ^= hash >>> 15
    }
    await pause()
  }
  return { hash, nonFinite }
}

/** Elements of a whole output that are not finite. */
export const nonFiniteOf = async (reader: OutputReader, output: number, elements: number, pause: () => Promise<void>): Promise<number> => (await hashOf(reader, output, chunksOf(elements), pause)).nonFinite
