import type { Dtype, Params } from '@core/case'
import { tensorsOf } from '@core/ops/define'
import type { Op } from '@core/ops/types'
import { createRandom, type Random } from '@core/stats/random'

/** One drawn case: an operation, a dtype and parameters that the operation accepts. */
export interface Drawn {
  op: string
  dtype: Dtype
  params: Params
}

/** What is drawn from: operations and the dtypes that every compared side has. */
export interface Drawable {
  op: Op
  dtypes: readonly Dtype[]
}

export interface Bounds {
  /** Most elements of one tensor. */
  elements: number
  /** Most operations of one call. */
  flops: number
}

/** One GPU call of this many operations takes some tens of milliseconds in f32. */
export const BOUNDS: Bounds = { elements: 2 ** 28, flops: 2 ** 38 }

/**
 * `count` cases from `seed`: operations in shuffled rounds, so that each comes equally often; dtypes uniformly; sizes
 * log-uniformly from 1 to `bounds.elements` elements of the largest tensor, split over the extents of the operation's form at
 * random, with extents that are powers of two, powers of two plus one, odd, prime or any. The same seed gives the same cases.
 */
export function drawCases(seed: number, count: number, from: readonly Drawable[], bounds: Bounds = BOUNDS): Drawn[] {
  const random = createRandom(seed)
  const cases: Drawn[] = []
  while (cases.length < count && from.length > 0) {
    for (const { op, dtypes } of shuffled(random, from).slice(0, count - cases.length)) {
      const dtype = oneOf(random, dtypes)
      cases.push({ op: op.id, dtype, params: drawParams(random, op, dtype, bounds) })
    }
  }
  return cases
}

/** Draws that an operation refuses or that exceed the bounds are drawn again; this many in a row mean that the form is not known here. */
const TRIES = 10_000

function drawParams(random: Random, op: Op, dtype: Dtype, bounds: Bounds): Params {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const parsed = op.params.safeParse({ ...extentsOf(random, op, bounds.elements), ...choicesOf(random, op) })
    if (!parsed.success) continue
    const largest = Math.max(...tensorsOf(op, parsed.data, dtype).map(({ elements }) => elements))
    if (largest <= bounds.elements && op.flops(parsed.data) <= bounds.flops) return parsed.data
  }
  throw new Error(`no size of ${op.id} was accepted in ${TRIES} draws`)
}

/** Words and flags uniformly; numbers at their default. */
const choicesOf = (random: Random, op: Op): Params =>
  Object.fromEntries(Object.entries(op.attributes).flatMap(([name, spec]) => (spec.kind === 'number' ? [] : [[name, spec.kind === 'flag' ? random() < 0.5 : oneOf(random, spec.words)]])))

/** Extents by the operation's size form; several forms share the extents that carry most elements. */
function extentsOf(random: Random, op: Op, most: number): Params {
  const total = 2 ** (random() * Math.log2(most))
  const upTo = (limit: number) => extentNear(random, 2 ** (random() * Math.log2(limit)))
  switch (op.size.id) {
    case 'vector': {
      if (!('broadcast' in op.attributes)) return { n: extentNear(random, total) }
      const [rows, cols] = split(random, total, 2)
      return { n: rows! * cols!, cols: cols! }
    }
    case 'gemm': {
      // The elements are those of one operand; the third extent is free.
      const [m, k] = split(random, total, 2)
      const extents = shuffled(random, [m!, k!, upTo(2 ** 14)])
      const batch = 'transA' in op.attributes && random() < 0.25 ? upTo(64) : 1
      return { m: extents[0]!, n: extents[1]!, k: extents[2]!, ...('transA' in op.attributes ? { batch } : {}) }
    }
    case 'attention': {
      const headDim = oneOf(random, [16, 32, 40, 64, 64, 80, 96, 128, 128, 160, 256])
      const [batch, heads, seqQ] = split(random, Math.max(1, total / headDim), 3)
      const seqK = random() < 0.5 ? seqQ! : upTo(2 ** 14)
      return { batch: batch!, heads: heads!, seqQ: seqQ!, seqK, headDim, kvHeads: divisor(random, heads!) }
    }
    case 'block': {
      const heads = oneOf(random, [1, 2, 3, 4, 8, 12, 16])
      const [tokens, width] = split(random, Math.max(1, total / heads), 2)
      const batch = divisor(random, tokens!)
      return { batch, seq: tokens! / batch, dim: heads * width!, heads, mlpRatio: oneOf(random, [1, 2, 3, 4, 4]) }
    }
    case 'images': {
      const [batch, channels, height, width] = split(random, total, 4)
      return {
        batch: batch!, channels: channels!, height: height!, width: width!, ...('groups' in op.attributes ? { groups: divisor(random, channels!) } : {}),
        ...(op.size.extents.some(({ name }) => name === 'outHeight') ? { outHeight: Math.ceil(random() * height!), outWidth: Math.ceil(random() * width!) } : {}),
      }
    }
    case 'pool1d':
    case 'pool2d': {
      const [batch, channels, height, width] = split(random, total, op.size.id === 'pool1d' ? 3 : 4)
      const kernel = oneOf(random, [1, 2, 2, 3, 3, 5, 7])
      return { batch: batch!, channels: channels!, ...(width === undefined ? { length: height! } : { height: height!, width }), kernel, stride: oneOf(random, [1, 2, kernel]), padding: random() < 0.5 ? 0 : Math.floor(kernel / 2) }
    }
    case 'conv1d':
    case 'conv2d':
    case 'conv3d': {
      const axes = Number(op.size.id[4])
      const [batch, channels, ...spatial] = split(random, total, 2 + axes)
      const kernel = oneOf(random, [1, 1, 2, 3, 3, 3, 5, 7])
      const groups = random() < 0.75 ? 1 : divisor(random, channels!)
      const shared = { batch: batch!, channels: channels!, filters: groups * upTo(512), groups, stride: oneOf(random, [1, 1, 2]), dilation: oneOf(random, [1, 1, 1, 2]) }
      const padding = random() < 0.5 ? 0 : Math.floor(kernel / 2)
      if (axes === 1) return { ...shared, length: spatial[0]!, kernel, padding }
      if (axes === 2) return { ...shared, height: spatial[0]!, width: spatial[1]!, kernelHeight: kernel, kernelWidth: kernel, paddingHeight: padding, paddingWidth: padding }
      return { ...shared, depth: spatial[0]!, height: spatial[1]!, width: spatial[2]!, kernel, padding }
    }
    case 'table': {
      const [rows, dim] = split(random, total, 2)
      return { rows: rows!, dim: dim!, indices: upTo(Math.max(1, most / dim!)) }
    }
    case 'heads': {
      const [tokens, heads] = split(random, Math.max(1, total / 64), 2)
      return { tokens: tokens!, heads: heads!, headDim: 2 * Math.ceil(random() * 128) }
    }
    default: {
      const names = op.size.extents.map(({ name }) => name)
      const batch = 'batch' in op.attributes && random() < 0.25 ? upTo(64) : 1
      const sizes = split(random, Math.max(1, total / batch), 2)
      return { ...Object.fromEntries(names.map((name, i) => [name, sizes[i]!])), ...('batch' in op.attributes ? { batch } : {}), ...('k' in op.attributes ? { k: Math.ceil(2 ** (random() * Math.log2(Math.min(sizes[1]!, 4096)))) } : {}) }
    }
  }
}

/** `parts` extents of about `total` elements together, each share uniform on the logarithm. */
function split(random: Random, total: number, parts: number): number[] {
  const cuts = [0, ...Array.from({ length: parts - 1 }, () => random()).sort((a, b) => a - b), 1]
  return shuffled(random, cuts.slice(1).map((cut, i) => extentNear(random, total ** (cut - cuts[i]!))))
}

/** A whole number near `size` in one of the styles that kernels treat differently. */
function extentNear(random: Random, size: number): number {
  const whole = Math.max(1, Math.round(size))
  const power = 2 ** Math.round(Math.log2(Math.max(1, size)))
  return oneOf(random, [() => power, () => power + 1, () => (whole % 2 === 1 ? whole : whole - 1), () => primeUpTo(whole), () => whole])()
}

/** The largest prime up to n; 1 where there is none. */
export function primeUpTo(n: number): number {
  for (let candidate = n; candidate > 1; candidate--) {
    let prime = true
    for (let d = 2; d * d <= candidate && prime; d++) prime = candidate % d !== 0
    if (prime) return candidate
  }
  return 1
}

/** A divisor of n, each equally likely. */
function divisor(random: Random, n: number): number {
  const divisors = Array.from({ length: Math.floor(Math.sqrt(n)) }, (_, i) => i + 1).filter((d) => n % d === 0).flatMap((d) => (d * d === n ? [d] : [d, n / d]))
  return oneOf(random, divisors)
}

const oneOf = <T>(random: Random, values: readonly T[]): T => values[Math.floor(random() * values.length)]!

function shuffled<T>(random: Random, values: readonly T[]): T[] {
  const all = [...values]
  for (let i = all.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[all[i], all[j]] = [all[j]!, all[i]!]
  }
  return all
}

const band = (value: number): string => (value < 16 ? '1-15' : value < 64 ? '16-63' : value < 1024 ? '64-1023' : value < 32768 ? '1Ki-32Ki' : '32Ki+')

/** The class of shape that launch choices distinguish, for a table by class: `rows of 1-15`, `m or n = 1`, `first axis, few columns`. */
export function classOf(op: Op, params: Params, dtype: Dtype): string {
  const p = params as Readonly<Record<string, number>>
  if (op.size.id === 'gemm') {
    const [m, n, k] = [p['m']!, p['n']!, p['k']!]
    const narrow = Math.min(m, n)
    if (narrow === 1) return `${op.id}: m or n = 1`
    if (narrow <= 16) return `${op.id}: m or n 2-16`
    if (m * n <= 256 * 256 && k >= 4096) return `${op.id}: small m and n, long k`
    return [m, n, k].every((side) => side % 64 === 0) ? `${op.id}: multiples of 64` : `${op.id}: other sides`
  }
  if (op.size.id === 'vector') return `vector${(params['broadcast'] ?? 'none') === 'none' ? '' : ' with broadcast'}, ${p['n']! < 2 ** 20 ? 'below 1Mi' : '1Mi and more'}`
  if (op.size.id !== 'matrix') return op.family === 'convolution' || op.family === 'pooling' ? op.family : op.id
  const [rows, cols] = op.size.extents.map(({ name }) => p[name]!) as [number, number]
  if (op.family === 'order') return op.id
  const axis = params['axis'] ?? { row: 'first', column: 'last', scalar: 'all' }[String(params['broadcast'])] ?? 'last'
  if (axis === 'all') return 'reduction over all'
  if (axis !== 'last') return `reduction over the first axis, ${rows < 64 ? 'few rows' : cols < 64 ? 'few columns' : 'other'}`
  const kind = op.family === 'reduction' || op.id === 'sum_to_shape' ? 'reduction' : op.family === 'gated' ? 'gated' : 'row operation'
  return `${kind}, rows of ${band(cols)}${cols * (dtype === 'f32' ? 4 : 2) % 16 === 0 || cols < 16 ? '' : ', unaligned'}`
}
