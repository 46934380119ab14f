import { problemOutputs, type PreparedCase, type Problem } from '@core/backend'
import { fromBf16Bits, toBf16Bits, type Values } from '@core/values/numbers'

/** Whole outputs of one case, in memory: what it gave with its seed, and with another one before. */
export interface Captured {
  right: Values
  stale: Values
  rows: number
  columns: number
}

const CHUNK = 1 << 20

async function wholeOutput(prepared: PreparedCase, elements: number): Promise<Values> {
  const out = new Float32Array(elements)
  for (let start = 0; start < elements; start += CHUNK) out.set(await prepared.read(0, start, Math.min(CHUNK, elements - start)), start)
  return out
}

/** Runs a case with another seed and with its own, and keeps its first output of both. */
export async function capture(prepared: PreparedCase, problem: Problem): Promise<Captured> {
  const { elements, shape } = problemOutputs(problem)[0]!
  await prepared.refill((problem.seed + 77) >>> 0)
  await prepared.run()
  const stale = await wholeOutput(prepared, elements)
  await prepared.refill(problem.seed)
  await prepared.run()
  const right = await wholeOutput(prepared, elements)
  // A vector is seen as a matrix that is about square.
  const columns = shape.length > 1 ? shape.at(-1)! : Math.max(1, Math.floor(Math.sqrt(elements)))
  return { right, stale, columns, rows: Math.max(1, Math.floor(elements / columns)) }
}

/** The case with what is in `captured.right` now as its output, for reads and searches alike. */
export const withOutput = (prepared: PreparedCase, { right }: Captured): PreparedCase => ({
  timer: prepared.timer,
  tickNs: prepared.tickNs,
  notes: prepared.notes,
  refill: () => Promise.resolve(),
  poison: () => Promise.resolve(),
  run: () => Promise.resolve(),
  scan: () => {
    let nonFinite = 0
    for (let i = 0; i < right.length; i++) if (!Number.isFinite(right[i]!)) nonFinite++
    return Promise.resolve([{ unwritten: 0, nonFinite }])
  },
  read: (_output, start, count) => Promise.resolve(right.slice(start, start + count)),
  sample: () => Promise.reject(new Error('only verified')),
  memory: () => prepared.memory(),
  dispose: () => prepared.dispose(),
})

type Random = () => number
/** Changes the output in place. */
type Change = (captured: Captured, put: (at: number, value: number) => void, random: Random) => void

const pick = (random: Random, below: number) => Math.floor(random() * below)

/** The top of the catalogue of ways in which kernels are wrong; each draws its place anew. */
export const FAULTS: Readonly<Record<string, Change>> = {
  'one element off by 10 %': ({ right }, put, random) => {
    let at = pick(random, right.length)
    for (let tries = 0; right[at] === 0 && tries < 1000; tries++) at = pick(random, right.length)
    put(at, right[at]! * 1.1)
  },
  'one element NaN': ({ right }, put, random) => put(pick(random, right.length), NaN),
  'a stale 32x32 tile': ({ right, stale, rows, columns }, put, random) => {
    const [row, column] = [32 * pick(random, Math.ceil(rows / 32)), 32 * pick(random, Math.ceil(columns / 32))]
    for (let i = row; i < Math.min(rows, row + 32); i++) for (let j = column; j < Math.min(columns, column + 32); j++) if (i * columns + j < right.length) put(i * columns + j, stale[i * columns + j]!)
  },
  'a skipped tail': ({ right, stale }, put, random) => {
    for (let at = Math.max(0, right.length - 1 - pick(random, 31)); at < right.length; at++) put(at, stale[at]!)
  },
  'one row shifted by one': ({ right, rows, columns }, put, random) => {
    const from = pick(random, rows) * columns
    const row = right.slice(from, from + columns)
    for (let j = 1; j < row.length; j++) put(from + j, row[j - 1]!)
    put(from, row.at(-1)!)
  },
  'zeros in 1 of 10,000': ({ right }, put, random) => {
    for (let left = Math.max(1, Math.round(right.length / 10_000)); left > 0; left--) put(pick(random, right.length), 0)
  },
  'bf16 arithmetic': ({ right }, put, random) => {
    // A partial sum of bf16 is off by up to half a step, as is what is rounded to it in the end.
    for (let at = 0; at < right.length; at++) put(at, fromBf16Bits(toBf16Bits(right[at]! * (1 + 2 ** -8 * (random() - 0.5)))))
  },
  'the output of the previous seed': ({ stale }, put) => stale.forEach((value, at) => put(at, value)),
}

/** Puts a fault in, calls `use`, and puts the output back as it was. Faults that change nothing (a shifted row of one element) say so. */
export async function withFault<T>(captured: Captured, fault: Change, random: Random, use: () => Promise<T>): Promise<{ changed: boolean; value: T }> {
  const { right } = captured
  const before = new Map<number, number>()
  let whole: Values | undefined
  fault(captured, (at, value) => {
    if (!whole && before.size > 1 << 16) whole = right.slice()
    if (!whole && !before.has(at)) before.set(at, right[at]!)
    right[at] = value
  }, random)
  const changed = whole !== undefined || [...before].some(([at, value]) => !Object.is(right[at], value))
  try {
    return { changed, value: await use() }
  } finally {
    if (whole) right.set(whole)
    for (const [at, value] of before) right[at] = value
  }
}
