import type { InputValues, MatrixProduct, ReadInput } from '../types'
import { addProduct } from '../matmul/reference'
import { outputsAlong, outputsInside, type WindowAxis } from '../windows'

/** A convolution of one to three dimensions; the axes are depth, height and width, of extent 1 where there is none. */
export interface Convolution {
  batch: number
  channels: number
  filters: number
  groups: number
  axes: readonly [depth: WindowAxis, height: WindowAxis, width: WindowAxis]
}

/** Output extents: depth, height, width. */
export const outputExtents = ({ axes: [depth, height, width] }: Convolution): [depth: number, height: number, width: number] => [outputsAlong(depth), outputsAlong(height), outputsAlong(width)]

/** Weights of one filter. */
export const filterSize = ({ channels, groups, axes: [depth, height, width] }: Convolution): number => (channels / groups) * depth.kernel * height.kernel * width.kernel

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
export function referenceRange(c: Convolution, read: ReadInput, start: number, count: number): Float64Array {
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
export function asProduct(c: Convolution): MatrixProduct {
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
