import { STORAGE_BYTES, storageOf, type Params } from '../../case'
import { flagAt, imageAt, numbersAt, sameOf, type AtenCall, type AtenForm } from '../aten'
import { defineOp, divisorUpTo, accumulated, exact } from '../define'
import { images, pool1d, pool2d, withNames, type SizeForm } from '../forms'
import type { ReadInput } from '../types'
import { inputsTouched, outputsAlong, type WindowAxis } from '../windows'

/** One axis of a pooling: its extents, its windows, and how many inputs all windows together hold or meet. */
interface Axis {
  input: number
  output: number
  window: Window
  /** Inputs of all windows, counted once for each window. */
  held: number
  touched: number
}

/** Windows of one size and distance; an average divides by the kernel, padding included, as PyTorch does by default. */
function even(axis: WindowAxis): Axis {
  const { input, kernel, stride, padding } = axis
  const output = outputsAlong(axis)
  const window: Window = (o) => ({ first: Math.max(0, o * stride - padding), end: Math.min(input, o * stride - padding + kernel), counted: kernel })
  return { input, output, window, held: output * kernel, touched: output < 1 ? 0 : inputsTouched(axis) }
}

/** Windows that share the input out: output o reads floor(o * input / output) up to ceil((o + 1) * input / output). */
function adaptive(input: number, output: number): Axis {
  const window: Window = (o) => {
    const first = Math.floor((o * input) / output)
    const end = Math.ceil(((o + 1) * input) / output)
    return { first, end, counted: end - first }
  }
  let held = 0
  for (let o = 0; o < output; o++) held += window(o).counted
  return { input, output, window, held, touched: input }
}

const ONE = adaptive(1, 1)

/** `pool(x, kernel, stride, padding, ...)` of square windows. */
function windows(call: AtenCall): Params | undefined {
  const image = imageAt(call, 0)
  const kernel = sameOf(numbersAt(call, 1) ?? [])
  // PyTorch's default stride is the kernel, which it writes as an empty list.
  const [strides, paddings] = [numbersAt(call, 2) ?? [], numbersAt(call, 3) ?? [0]]
  const [stride, padding] = [strides.length === 0 ? kernel : sameOf(strides), sameOf(paddings)]
  return image && kernel !== undefined && stride !== undefined && padding !== undefined ? { ...image, kernel, stride, padding } : undefined
}

/** `adaptive_pool(x, [rows, columns])`. */
function sharedOut(call: AtenCall): Params | undefined {
  const [image, out] = [imageAt(call, 0), numbersAt(call, 1)]
  return image && out ? { ...image, outHeight: out[0]!, outWidth: out[1] ?? out[0]! } : undefined
}

interface Kind {
  size: SizeForm
  /** Height is absent for signals. */
  spatial: 1 | 2
  axes(p: Readonly<Record<string, number>>): readonly [rows: Axis, columns: Axis]
  /** Arguments of the PyTorch call after x. */
  call: string
  dims(p: Readonly<Record<string, number>>): readonly number[]
}

const windowed = (p: Readonly<Record<string, number>>, input: string): Axis => even({ input: p[input]!, kernel: p['kernel']!, stride: p['stride']!, padding: p['padding']!, dilation: 1 })

const KINDS: Readonly<Record<'pool1d' | 'pool2d' | 'adaptive', Kind>> = {
  pool1d: { size: pool1d, spatial: 1, axes: (p) => [ONE, windowed(p, 'length')], call: 'kernel, stride, padding', dims: (p) => [p['kernel']!, p['stride']!, p['padding']!] },
  pool2d: { size: pool2d, spatial: 2, axes: (p) => [windowed(p, 'height'), windowed(p, 'width')], call: 'kernel, stride, padding', dims: (p) => [p['kernel']!, p['stride']!, p['padding']!] },
  adaptive: {
    size: withNames(images, [], [{ name: 'outHeight', title: 'Output rows', default: 1 }, { name: 'outWidth', title: 'Output columns', default: ({ outHeight }) => outHeight! }]),
    spatial: 2, axes: (p) => [adaptive(p['height']!, p['outHeight']!), adaptive(p['width']!, p['outWidth']!)], call: '(outHeight, outWidth)', dims: () => [],
  },
}

const TABLE: readonly { id: string; kind: keyof typeof KINDS; max: boolean; summary: string; aten?: AtenForm }[] = [
  { id: 'max_pool1d', kind: 'pool1d', max: true, summary: 'Largest element of each window of a signal' },
  { id: 'max_pool2d', kind: 'pool2d', max: true, summary: 'Largest element of each window of an image', aten: { names: ['max_pool2d_with_indices'], params: (call) => (sameOf(numbersAt(call, 4) ?? [1]) === 1 && !flagAt(call, 5) ? windows(call) : undefined) } },
  { id: 'avg_pool1d', kind: 'pool1d', max: false, summary: 'Mean of each window of a signal' },
  { id: 'avg_pool2d', kind: 'pool2d', max: false, summary: 'Mean of each window of an image', aten: { names: ['avg_pool2d'], params: (call) => (flagAt(call, 4) ? undefined : windows(call)) } },
  { id: 'adaptive_avg_pool2d', kind: 'adaptive', max: false, summary: 'Mean of windows that share an image out', aten: { names: ['_adaptive_avg_pool2d'], params: sharedOut } },
  { id: 'adaptive_max_pool2d', kind: 'adaptive', max: true, summary: 'Largest element of windows that share an image out', aten: { names: ['adaptive_max_pool2d'], params: sharedOut } },
]

/**
 * Each output is the largest element, or the mean, of a window of x [batch, channels, spatial]. Windows of the padded kinds start
 * `stride` apart, `padding` elements before the input; padding never is the largest, and counts as zeros in a mean
 * (count_include_pad); outputs are rounded down. Adaptive windows share the input out.
 * dims: [batch * channels, height, width, outHeight, outWidth, kernel, stride, padding], height and outHeight 1 for signals, no padding
 * along a height of 1; adaptive ones end after outWidth. One operation per element of a window, those of the padding counted too.
 */
function pooling({ id, kind, max, summary, aten }: (typeof TABLE)[number]) {
  const { size, spatial, axes, call, dims } = KINDS[kind]
  const numbers = (p: Params) => p as Readonly<Record<string, number>>
  const planes = (p: Params) => numbers(p)['batch']! * numbers(p)['channels']!
  const of = (p: Params) => {
    const [rows, columns] = axes(numbers(p))
    return { rows, columns, window: (rows.held / rows.output) * (columns.held / columns.output) }
  }
  return defineOp({
    id,
    family: 'pooling',
    summary,
    torch: `F.${id}(x, ${call})`,
    size,
    ...(aten ? { aten: [aten] } : {}),
    refuse: (p) => {
      const { kernel, padding } = numbers(p)
      if (kernel !== undefined && padding! > kernel / 2) return `padding (${padding}) must not exceed half of kernel (${kernel})`
      const empty = axes(numbers(p)).find(({ output }) => output < 1)
      return empty ? `no output: a kernel of ${kernel} does not fit ${empty.input + 2 * padding!} elements, padding included` : undefined
    },
    dtypes: ['f32', 'f16', 'bf16'],
    tensors: (p, dtype) => {
      const { rows, columns } = of(p)
      const { batch, channels } = numbers(p) as { batch: number; channels: number }
      return [
        {
          name: 'x', shape: [batch, channels, ...[rows.input, columns.input].slice(-spatial)], role: 'in', fill: { kind: 'normal', scale: 1 },
          leastBytes: planes(p) * rows.touched * columns.touched * STORAGE_BYTES[storageOf(dtype)],
        },
        { name: 'out', shape: [batch, channels, ...[rows.output, columns.output].slice(-spatial)], role: 'out' },
      ]
    },
    dims: (p) => {
      const { rows, columns } = of(p)
      return [planes(p), rows.input, columns.input, rows.output, columns.output, ...dims(numbers(p))]
    },
    flops: (p) => planes(p) * of(p).rows.held * of(p).columns.held,
    granule: (p) => divisorUpTo(of(p).columns.output, 64),
    referenceCost: (p) => 8 + 5 * of(p).window,
    reference: (p, read, start, count) => {
      const { rows, columns } = of(p)
      return pooledRange({ height: rows.input, width: columns.input, outHeight: rows.output, outWidth: columns.output, rows: rows.window, columns: columns.window, max }, read, start, count)
    },
    tolerance: (p, dtype) => (max ? exact : accumulated(dtype, of(p).window, 1 / of(p).window)),
    // The mean of independent unit normals.
    ...(max ? {} : { outputScale: (p: Params) => 1 / Math.sqrt(of(p).window) }),
  })
}

export default TABLE.map(pooling)

/** Window of output `o` along one axis: inputs `first .. end`, and the count that an average divides by (padding included). */
type Window = (o: number) => { first: number; end: number; counted: number }

/** Planes [height, width] pooled to [outHeight, outWidth]; signals have height 1. */
export interface Pooling {
  height: number
  width: number
  outHeight: number
  outWidth: number
  rows: Window
  columns: Window
  max: boolean
}

/** Output elements `start .. start + count` of the flattened [planes, outHeight, outWidth]: one output row, or a part of it, at a time. */
function pooledRange({ height, width, outHeight, outWidth, rows, columns, max }: Pooling, read: ReadInput, start: number, count: number): Float64Array {
  const out = new Float64Array(count)
  for (let done = 0; done < count; ) {
    const from = (start + done) % outWidth
    const to = Math.min(outWidth, from + count - done)
    const outRow = Math.floor((start + done) / outWidth)
    const row = rows(outRow % outHeight)
    const left = columns(from).first
    const right = columns(to - 1).end
    const base = (Math.floor(outRow / outHeight) * height + row.first) * width
    const whole = left === 0 && right === width
    const across = right - left
    const x = whole ? read(0, base, (row.end - row.first) * width) : new Float32Array((row.end - row.first) * across)
    if (!whole) for (let r = row.first; r < row.end; r++) (x as Float32Array).set(read(0, base + (r - row.first) * width + left, across), (r - row.first) * across)
    for (let o = from; o < to; o++) {
      const column = columns(o)
      let best = -Infinity
      let sum = 0
      for (let r = 0; r < row.end - row.first; r++) {
        for (let i = r * across + column.first - left, end = r * across + column.end - left; i < end; i++) {
          const value = x[i]!
          sum += value
          if (value > best || Number.isNaN(value)) best = value
        }
      }
      out[done + o - from] = max ? best : sum / (row.counted * column.counted)
    }
    done += to - from
  }
  return out
}
