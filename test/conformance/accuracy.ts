import { problemOf, type Backend, type Device, type Impl } from '@core/backend'
import { getOp } from '@core/ops/registry'
import { fillRange, type FillSpec } from '@core/values/random'
import { makeCase } from './faults'

/** What an operation may be off, at most, from float64 over every finite f32 input. */
export interface AccuracyLimit {
  op: string
  unit: 'ULP' | 'relative'
  limit: number
  /** Smallest input that the limit holds for, where there is one. */
  above?: number
  positive?: boolean
}

export const LIMITS: readonly AccuracyLimit[] = [
  { op: 'exp', unit: 'ULP', limit: 1.5 },
  { op: 'log', unit: 'ULP', limit: 1.5, positive: true },
  { op: 'tanh', unit: 'ULP', limit: 2.5 },
  { op: 'sigmoid', unit: 'ULP', limit: 2.5 },
  { op: 'gelu', unit: 'relative', limit: 1e-6, above: -3 },
]

/** Largest relative error of a sum of 2^24 positive elements, and the largest error of one of elements of both signs by the sum of their magnitudes. */
export const SUM_LIMIT = 1e-6
export const SUM_ELEMENTS = 2 ** 24

/** The smallest normal f32: what is smaller is zero to every kernel, for denormals are off. */
const NORMAL = 2 ** -126

const number = new Float64Array(1)
const words = new Uint32Array(number.buffer)

/** Distance of the f32 values around `x`, which is no smaller than the smallest normal one. */
function spacing(x: number): number {
  number[0] = x
  return 2 ** (((words[1]! >>> 20) & 0x7ff) - 1023 - 23)
}

/** How far `out` is off `exact`: infinite where only one of them is finite in f32. */
function errorOf(out: number, exact: number, unit: AccuracyLimit['unit']): number {
  const nearest = Math.fround(exact)
  if (!Number.isFinite(nearest) || !Number.isFinite(out)) return Object.is(out, nearest) ? 0 : Infinity
  const size = Math.abs(exact)
  if (size < NORMAL) return Math.abs(out) <= NORMAL ? 0 : Infinity
  return Math.abs(out - exact) / (unit === 'ULP' ? spacing(size) : size)
}

export interface Worst {
  error: number
  at: number
  samples: number
}

/** A kernel's outputs for inputs of one fill, and those inputs. */
async function outputsOf(backend: Backend, device: Device, impl: Impl, op: string, params: Record<string, number | string>, fill: FillSpec, seed: number, threads: number) {
  const made = problemOf(getOp(op), makeCase(device, impl, getOp(op), params, 'f32', threads), seed)
  const prepared = await backend.open({ ...made, tensors: made.tensors.map((tensor) => (tensor.role === 'in' ? { ...tensor, fill } : tensor)) })
  try {
    await prepared.run()
    const [x, out] = [made.tensors[0]!.elements, made.tensors.at(-1)!.elements]
    return { x: fillRange(seed, 0, fill, 'f32', 0, x) as Float32Array, out: await prepared.read(0, 0, out) }
  } finally {
    await prepared.dispose()
  }
}

/** Exponents of the magnitudes: all of f32 whose step, about 2^15 times smaller, is no denormal, and again those where functions change. */
const SCALES = Array.from({ length: 238 }, (_, i) => i - 110)
const TELLING = Array.from({ length: 14 }, (_, i) => i - 5)

/**
 * The largest error of one operation over about `samples` finite inputs: half of them over all exponents, half where the function is
 * neither its argument nor a constant. Denormal inputs are left out.
 */
export async function worstOf(backend: Backend, device: Device, impl: Impl, rule: AccuracyLimit, samples: number, seed: number): Promise<Worst> {
  const worst: Worst = { error: 0, at: 0, samples: 0 }
  const each = async (exponent: number, n: number) => {
    const fill = { kind: rule.positive ? 'positive' : 'normal', scale: 2 ** exponent } as const
    const { x, out } = await outputsOf(backend, device, impl, rule.op, { n }, fill, seed + exponent, 1)
    const exact = getOp(rule.op).reference({ n }, () => x, 0, n, 0)
    for (let i = 0; i < n; i++) {
      const at = x[i]!
      if (!(Math.abs(at) >= NORMAL && Math.abs(at) < Infinity) || at <= (rule.above ?? -Infinity)) continue
      const error = errorOf(out[i]!, exact[i]!, rule.unit)
      worst.samples++
      if (!(error <= worst.error)) Object.assign(worst, { error, at })
    }
  }
  for (const exponent of SCALES) await each(exponent, Math.ceil(samples / 2 / SCALES.length))
  for (const exponent of TELLING) await each(exponent, Math.ceil(samples / 2 / TELLING.length))
  return worst
}

/** Relative errors of a sum of SUM_ELEMENTS: of positive elements, and of elements of both signs by the sum of their magnitudes. */
export async function sumErrors(backend: Backend, device: Device, impl: Impl, seed: number, threads: number): Promise<number[]> {
  const side = Math.sqrt(SUM_ELEMENTS)
  const errors: number[] = []
  for (const fill of [{ kind: 'uniform', scale: 1 }, { kind: 'normal', scale: 1 }] as const) {
    const { x, out } = await outputsOf(backend, device, impl, 'sum', { rows: side, cols: side, axis: 'all' }, fill, seed, threads)
    let [sum, magnitudes] = [0, 0]
    for (const value of x) {
      sum += value
      magnitudes += Math.abs(value)
    }
    errors.push(Math.abs(out[0]! - sum) / magnitudes)
  }
  return errors
}
