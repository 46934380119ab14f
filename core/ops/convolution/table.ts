import type { Params } from '../../case'
import { flagAt, numberAt, numbersAt, sameOf, shapeAt, type AtenCall } from '../aten'
import { defineOp, divisorUpTo, accumulated } from '../define'
import { conv1d, conv2d, conv3d, type SizeForm } from '../forms'
import { addProduct } from '../product/table'
import type { InputValues, MatrixProduct, ReadInput } from '../types'
import { inputsTouched, outputsAlong, outputsInside, type WindowAxis } from '../windows'

/** An axis that a convolution of fewer dimensions does not have. */
const NONE: WindowAxis = { input: 1, kernel: 1, stride: 1, padding: 0, dilation: 1 }

/** What the convolutions differ in. */
interface Dimensions {
  id: string
  title: string
  size: SizeForm
  /** How many of depth, height and width there are, counted from the last. */
  axes: 1 | 2 | 3
  geometry(p: Readonly<Record<string, number>>): Convolution['axes']
}

/** The axes of a convolution: neighbouring outputs `stride` apart, kernel elements `dilation` apart. */
const DIMENSIONS: readonly Dimensions[] = [
  {
    id: 'conv1d', title: 'Convolution of signals', size: conv1d, axes: 1,
    geometry: (p) => [NONE, NONE, { input: p['length']!, kernel: p['kernel']!, stride: p['stride']!, padding: p['padding']!, dilation: p['dilation']! }],
  },
  {
    id: 'conv2d', title: 'Convolution of images', size: conv2d, axes: 2,
    geometry: (p) => [
      NONE,
      { input: p['height']!, kernel: p['kernelHeight']!, stride: p['stride']!, padding: p['paddingHeight']!, dilation: p['dilation']! },
      { input: p['width']!, kernel: p['kernelWidth']!, stride: p['stride']!, padding: p['paddingWidth']!, dilation: p['dilation']! },
    ],
  },
  {
    id: 'conv3d', title: 'Convolution of volumes', size: conv3d, axes: 3,
    geometry: (p) => {
      const axis = (input: number): WindowAxis => ({ input, kernel: p['kernel']!, stride: p['stride']!, padding: p['padding']!, dilation: p['dilation']! })
      return [axis(p['depth']!), axis(p['height']!), axis(p['width']!)]
    },
  },
]

/** `convolution(x, weight, bias, stride, padding, dilation, transposed, output_padding, groups)` over so many axes. */
function calledWith(call: AtenCall, axes: number): Params | undefined {
  const [x, weight] = [shapeAt(call, 0), shapeAt(call, 1)]
  const [strides, paddings, dilations] = [3, 4, 5].map((at) => numbersAt(call, at) ?? [])
  if (!x || !weight || x.length !== axes + 2 || flagAt(call, 6)) return undefined
  const [batch, channels, ...input] = x as [number, number, ...number[]]
  const [filters, , ...kernel] = weight as [number, number, ...number[]]
  const shared = { stride: sameOf(strides!), dilation: sameOf(dilations!), groups: numberAt(call, 8, 1), batch, channels, filters }
  if (shared.stride === undefined || shared.dilation === undefined) return undefined
  const both = { ...shared, stride: shared.stride, dilation: shared.dilation }
  const [height, width] = input.slice(-2) as [number, number]
  if (axes === 2) return { ...both, height, width, kernelHeight: kernel[0]!, kernelWidth: kernel[1]!, paddingHeight: paddings![0]!, paddingWidth: paddings![1] ?? paddings![0]! }
  const [size, padding] = [sameOf(kernel), sameOf(paddings!)]
  if (size === undefined || padding === undefined) return undefined
  return { ...both, kernel: size, padding, ...(axes === 1 ? { length: input[0]! } : { depth: input[0]!, height, width }) }
}

/**
 * out[n, f, o] = sum over c and k of x[n, c, o * stride - padding + k * dilation] * weight[f, c, k], zero outside x, where c runs over
 * the channels of the filter's group and o and k over one to three axes. x [batch, channels, spatial], weight
 * [filters, channels / groups, kernel], out [batch, filters, spatial]; row-major, accumulated in f32, no bias.
 * PyTorch: torch.nn.functional.conv2d(x, weight, None, stride, padding, dilation, groups).
 *
 * dims, the same for all three with extent 1 (padding 0, stride and dilation 1) for the axes that there are not:
 *   [batch, channels, filters, groups, stride, dilation, then depth, height, width each of: input, kernel, padding, output].
 * Operations: 2 * outputs * (channels / groups) * kernel elements, those of the padding counted too.
 */
function convolution({ id, title, size, axes, geometry }: Dimensions) {
  const of = (p: Params): Convolution => {
    const numbers = p as Readonly<Record<string, number>>
    return { batch: numbers['batch']!, channels: numbers['channels']!, filters: numbers['filters']!, groups: numbers['groups']!, axes: geometry(numbers) }
  }
  const outputs = (c: Convolution) => c.batch * c.filters * outputExtents(c).reduce((a, b) => a * b, 1)
  return defineOp({
    id,
    family: 'convolution',
    summary: title,
    torch: `F.${id}(x, weight, None, stride, padding, dilation, groups)`,
    size,
    aten: [{ names: ['convolution'], params: (call) => calledWith(call, axes) }],
    refuse: (p) => {
      const c = of(p)
      for (const [name, extent] of [['channels', c.channels], ['filters', c.filters]] as const) if (extent % c.groups !== 0) return `groups (${c.groups}) must divide ${name} (${extent})`
      const extents = outputExtents(c)
      const at = extents.findIndex((extent) => extent < 1)
      if (at < 0) return undefined
      const { input, kernel, padding, dilation } = c.axes[at]!
      return `no output: a kernel of ${kernel} with dilation ${dilation} spans ${dilation * (kernel - 1) + 1} elements, the input with padding has ${input + 2 * padding}`
    },
    dtypes: ['f32', 'f16', 'bf16', 'tf32'],
    tensors: (p, dtype) => {
      const c = of(p)
      const spatial = c.axes.slice(-axes)
      const bytes = dtype === 'f16' || dtype === 'bf16' ? 2 : 4
      return [
        {
          name: 'x', shape: [c.batch, c.channels, ...spatial.map(({ input }) => input)], role: 'in', fill: { kind: 'normal', scale: 1 },
          leastBytes: c.batch * c.channels * spatial.reduce((product, axis) => product * inputsTouched(axis), bytes),
        },
        { name: 'weight', shape: [c.filters, c.channels / c.groups, ...spatial.map(({ kernel }) => kernel)], role: 'in', fill: { kind: 'normal', scale: 1 } },
        { name: 'out', shape: [c.batch, c.filters, ...outputExtents(c).slice(-axes)], role: 'out' },
      ]
    },
    dims: (p) => {
      const c = of(p)
      const extents = outputExtents(c)
      const { stride, dilation } = c.axes[2]
      return [c.batch, c.channels, c.filters, c.groups, stride, dilation, ...c.axes.flatMap(({ input, kernel, padding }, i) => [input, kernel, padding, extents[i]!])]
    },
    flops: (p) => 2 * outputs(of(p)) * filterSize(of(p)),
    unit: (dtype) => (dtype === 'f32' ? 'vector' : 'matrix'),
    // Neighbours in a row share their reads of x and weight.
    granule: (p) => divisorUpTo(outputExtents(of(p))[2], 64),
    referenceCost: (p) => filterSize(of(p)),
    // Besides the products, every row of x and weight is generated, at about four units an element.
    referenceCostAlone: (p) => {
      const c = of(p)
      const [depth, height, width] = c.axes
      const run = divisorUpTo(outputExtents(c)[2], 64)
      const rowElements = (run - 1) * width.stride + width.kernel * width.dilation
      return filterSize(c) * (1 + 4 / run) + (4 * (c.channels / c.groups) * depth.kernel * height.kernel * rowElements) / run
    },
    reference: (p, read, start, count) => referenceRange(of(p), read, start, count),
    product: (p) => asProduct(of(p)),
    tolerance: (p, dtype) => accumulated(dtype, filterSize(of(p))),
    // Standard deviation of a sum of products of unit normals, where no padding is met.
    outputScale: (p) => Math.sqrt(filterSize(of(p))),
  })
}

export default DIMENSIONS.map(convolution)

/** A convolution of one to three dimensions; the axes are depth, height and width, of extent 1 where there is none. */
interface Convolution {
  batch: number
  channels: number
  filters: number
  groups: number
  axes: readonly [depth: WindowAxis, height: WindowAxis, width: WindowAxis]
}

/** Output extents: depth, height, width. */
const outputExtents = ({ axes: [depth, height, width] }: Convolution): [depth: number, height: number, width: number] => [outputsAlong(depth), outputsAlong(height), outputsAlong(width)]

/** Weights of one filter. */
const filterSize = ({ channels, groups, axes: [depth, height, width] }: Convolution): number => (channels / groups) * depth.kernel * height.kernel * width.kernel

/** Outputs of one filter and image at output rows `row .. row + rows` (depth and height counted together) and columns `from .. to`. */
interface Rows {
  image: number
  filter: number
  row: number
  rows: number
  from: number
  to: number
}

/** Output elements `start .. start + count` of the flattened [batch, filters, depth, height, width], as planes of neighbouring filters, rows, and parts of rows. */
function referenceRange(c: Convolution, read: ReadInput, start: number, count: number): Float64Array {
  const [depth, height, width] = outputExtents(c)
  const plane = depth * height * width
  const perGroup = c.filters / c.groups
  const out = new Float64Array(count)
  for (let done = 0; done < count; ) {
    const at = start + done
    const left = count - done
    const place = at % plane
    const filter = Math.floor(at / plane) % c.filters
    const image = Math.floor(at / plane / c.filters)
    const whole = place === 0 ? Math.min(Math.floor(left / plane), perGroup - (filter % perGroup)) : 0
    const row = Math.floor(place / width)
    const from = place % width
    const rows = from === 0 ? Math.min(Math.floor(left / width), depth * height - row) : 0
    const size = whole > 0 ? whole * plane : rows > 0 ? rows * width : Math.min(width - from, left)
    const part = out.subarray(done, done + size)
    if (whole > 0) addPlanes(c, read, { image, filter, filters: whole }, part)
    else addRows(c, read, rows > 0 ? { image, filter, row, rows, from: 0, to: width } : { image, filter, row, rows: 1, from, to: from + size }, part)
    done += size
  }
  return out
}

/** Elements of the windows of an image that are held at once. */
const WINDOWS = 1 << 20

/** Adds every product of whole planes of some neighbouring filters of one group to `out` [filters, outputs]. */
function addPlanes(c: Convolution, read: ReadInput, { image, filter, filters }: { image: number; filter: number; filters: number }, out: Float64Array): void {
  const { inner, cols, right } = asProduct(c)
  const weights = read(1, filter * inner, filters * inner)
  const group = Math.floor(filter / (c.filters / c.groups))
  const slice = Math.max(1, Math.floor(WINDOWS / cols))
  for (let from = 0; from < inner; from += slice) {
    const count = Math.min(slice, inner - from)
    addProduct(out, weights, { stride: inner, from, rows: filters }, right(read, image * c.groups + group, from, count), cols)
  }
}

/** Adds every product to `out` [rows, to - from]. Each input row is read once. */
function addRows(c: Convolution, read: ReadInput, block: Rows, out: Float64Array): void {
  const { channels, groups, filters: allFilters, axes: [dAxis, hAxis, wAxis] } = c
  const { image, filter, row, rows, from, to } = block
  const [, height] = outputExtents(c)
  const inGroup = channels / groups
  const volume = dAxis.kernel * hAxis.kernel * wAxis.kernel
  const firstChannel = Math.floor(filter / (allFilters / groups)) * inGroup
  const weights = read(1, filter * inGroup * volume, inGroup * volume)
  const columns = to - from
  // The part of an input row that these columns read.
  const left = Math.max(0, from * wAxis.stride - wAxis.padding)
  const right = Math.min(wAxis.input, (to - 1) * wAxis.stride - wAxis.padding + (wAxis.kernel - 1) * wAxis.dilation + 1)
  if (right <= left) return
  for (let channel = 0; channel < inGroup; channel++) {
    const source = (image * channels + firstChannel + channel) * dAxis.input * hAxis.input * wAxis.input
    const known = new Map<number, ReturnType<ReadInput>>()
    for (let r = 0; r < rows; r++) {
      const d = Math.floor((row + r) / height)
      const h = (row + r) % height
      for (let kd = 0; kd < dAxis.kernel; kd++) {
        const id = d * dAxis.stride - dAxis.padding + kd * dAxis.dilation
        if (id < 0 || id >= dAxis.input) continue
        for (let kh = 0; kh < hAxis.kernel; kh++) {
          const ih = h * hAxis.stride - hAxis.padding + kh * hAxis.dilation
          if (ih < 0 || ih >= hAxis.input) continue
          const inputRow = id * hAxis.input + ih
          let x = known.get(inputRow)
          if (!x) known.set(inputRow, (x = read(0, source + inputRow * wAxis.input + left, right - left)))
          const weightAt = channel * volume + (kd * hAxis.kernel + kh) * wAxis.kernel
          const outAt = r * columns - from
          for (let kw = 0; kw < wAxis.kernel; kw++) {
            const weight = weights[weightAt + kw]!
            const offset = kw * wAxis.dilation - wAxis.padding - left
            const [first, end] = outputsInside(wAxis, kw, from, to)
            for (let o = first; o < end; o++) out[outAt + o]! += weight * x[o * wAxis.stride + offset]!
          }
        }
      }
    }
  }
}

/**
 * The output as a matrix product for core/measure/verify/product.ts: of each image and group, the filters [filters, channels * kernel]
 * times the windows of the image [channels * kernel, outputs].
 */
function asProduct(c: Convolution): MatrixProduct {
  const { batch, channels, filters, groups, axes: [dAxis, hAxis, wAxis] } = c
  const [depth, height, width] = outputExtents(c)
  const [rows, inner, cols] = [filters / groups, filterSize(c), depth * height * width]
  const volume = dAxis.kernel * hAxis.kernel * wAxis.kernel
  const plane = dAxis.input * hAxis.input * wAxis.input
  return {
    batch: batch * groups, rows, inner, cols,
    left: (read, part, row, count) => read(1, ((part % groups) * rows + row) * inner, count * inner),
    right: (read, part, from, count) => {
      const right = new Float64Array(count * cols)
      const firstChannel = Math.floor(part / groups) * channels + (part % groups) * (channels / groups)
      let channel = -1
      let x: InputValues = right
      for (let l = 0; l < count; l++) {
        const place = (from + l) % volume
        const next = firstChannel + Math.floor((from + l) / volume)
        if (next !== channel) x = read(0, (channel = next) * plane, plane)
        const kw = place % wAxis.kernel
        const offset = kw * wAxis.dilation - wAxis.padding
        const [first, end] = outputsInside(wAxis, kw, 0, width)
        for (let d = 0; d < depth; d++) {
          const id = d * dAxis.stride - dAxis.padding + Math.floor(place / (hAxis.kernel * wAxis.kernel)) * dAxis.dilation
          if (id < 0 || id >= dAxis.input) continue
          for (let h = 0; h < height; h++) {
            const ih = h * hAxis.stride - hAxis.padding + (Math.floor(place / wAxis.kernel) % hAxis.kernel) * hAxis.dilation
            if (ih < 0 || ih >= hAxis.input) continue
            const source = (id * hAxis.input + ih) * wAxis.input + offset
            const target = l * cols + (d * height + h) * width
            for (let o = first; o < end; o++) right[target + o] = x[source + o * wAxis.stride]!
          }
        }
      }
      return right
    },
  }
}
