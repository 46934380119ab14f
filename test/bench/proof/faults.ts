import { problemOutputs, type PreparedCase, type Problem } from '@core/backend'
import { getOp } from '@core/ops/registry'
import { fromBf16Bits, toBf16Bits, type Values } from '@core/values/numbers'

/** Whole outputs of one case, in memory: what it gave with its seed, and with another one before. */
export interface Captured {
  right: Values
  stale: Values
  rows: number
  columns: number
  /** Root mean square of the output. */
  typical: number
  /** Indices: faults of real numbers do not occur. */
  whole: boolean
  /** A random op may drop any element: a zero is no fault of one. */
  drops: boolean
}

const CHUNK = 1 << 20

async function wholeOutput(prepared: PreparedCase, elements: number): Promise<Values> {
  const out = new Float32Array(elements)
  for (let start = 0; start < elements; start += CHUNK) out.set(await prepared.read(0, start, Math.min(CHUNK, elements - start)), start)
  return out
}

/** Runs a case with another seed and with its own, and keeps its first output of both. */
export async function capture(prepared: PreparedCase, problem: Problem): Promise<Captured> {
  const { elements, shape, storage } = problemOutputs(problem)[0]!
  await prepared.refill((problem.seed + 77) >>> 0)
  await prepared.run()
  const stale = await wholeOutput(prepared, elements)
  await prepared.refill(problem.seed)
  await prepared.run()
  const right = await wholeOutput(prepared, elements)
  // A vector is seen as a matrix that is about square.
  const columns = shape.length > 1 ? shape.at(-1)! : Math.max(1, Math.floor(Math.sqrt(elements)))
  let squares = 0
  for (let i = 0; i < elements; i++) squares += right[i]! * right[i]!
  const whole = storage === 'i32' || storage === 'u8' || storage === 'i8'
  return { right, stale, columns, rows: Math.max(1, Math.floor(elements / columns)), typical: Math.sqrt(squares / elements), whole, drops: getOp(problem.case.op).keepRate !== undefined }
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

/** An element of at least half the typical magnitude: what is smaller may lie within the absolute part of an element's bound. */
function pickTypical({ right, typical }: Captured, random: Random): number {
  let at = pick(random, right.length)
  for (let tries = 0; Math.abs(right[at]!) < typical / 2 && tries < 1000; tries++) at = pick(random, right.length)
  return at
}

/** Faults that leave the whole output in need of a comparison, and so are tried fewer times on large ones. */
export const WHOLE_FAULTS: readonly string[] = ['bf16 arithmetic', 'the output of the previous seed']
/** Faults that indices cannot have. */
export const REAL_FAULTS: readonly string[] = ['one element NaN', 'bf16 arithmetic']

/** The ways in which kernels are wrong, of which the product promises that it finds them; each draws its place anew. */
export const FAULTS: Readonly<Record<string, Change>> = {
  'one element off by 10 %': (captured, put, random) => {
    const at = pickTypical(captured, random)
    const value = captured.right[at]!
    put(at, captured.whole ? value + Math.max(1, Math.round(value / 10)) : value * 1.1)
  },
  'one element NaN': ({ right }, put, random) => put(pick(random, right.length), NaN),
  'a stale 32x32 tile': ({ right, stale, rows, columns }, put, random) => {
    const [row, column] = [32 * pick(random, Math.ceil(rows / 32)), 32 * pick(random, Math.ceil(columns / 32))]
    for (let i = row; i < Math.min(rows, row + 32); i++) for (let j = column; j < Math.min(columns, column + 32); j++) if (i * columns + j < right.length) put(i * columns + j, stale[i * columns + j]!)
  },
  'a skipped tail': ({ right, stale }, put, random) => {
    // What a loop over 32 elements at a time leaves over.
    for (let at = Math.max(0, right.length - 4 - pick(random, 28)); at < right.length; at++) put(at, stale[at]!)
  },
  'one row shifted by one': ({ right, rows, columns }, put, random) => {
    const from = pick(random, rows) * columns
    const row = right.slice(from, from + columns)
    for (let j = 1; j < row.length; j++) put(from + j, row[j - 1]!)
    put(from, row.at(-1)!)
  },
  'zeros in 1 of 10,000': (captured, put, random) => {
    for (let left = Math.max(1, Math.round(captured.right.length / 10_000)); left > 0; left--) put(pickTypical(captured, random), 0)
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
    if (captured.drops && value === 0) return
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
