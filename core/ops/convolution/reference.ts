import type { ReadInput } from '../types'
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

/** Outputs of `filters` neighbouring filters of one image and group, at output rows `row .. row + rows` (depth and height counted together) and columns `from .. to`. */
interface Block {
  image: number
  filter: number
  filters: number
  row: number
  rows: number
  from: number
  to: number
}

/** Output elements `start .. start + count` of the flattened [batch, filters, depth, height, width], as blocks of a shape that can be computed at once. */
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
    const block: Block =
      whole > 0 ? { image, filter, filters: whole, row: 0, rows: depth * height, from: 0, to: width } :
      rows > 0 ? { image, filter, filters: 1, row, rows, from: 0, to: width } :
      { image, filter, filters: 1, row, rows: 1, from, to: Math.min(width, from + left) }
    const size = block.filters * block.rows * (block.to - block.from)
    addBlock(c, read, block, out.subarray(done, done + size))
    done += size
  }
  return out
}

/** Adds every product of a block to `out` [filters, rows, to - from]. Each input row is read once for all filters. */
function addBlock(c: Convolution, read: ReadInput, block: Block, out: Float64Array): void {
  const { channels, groups, filters: allFilters, axes: [dAxis, hAxis, wAxis] } = c
  const { image, filter, filters, row, rows, from, to } = block
  const [, height] = outputExtents(c)
  const inGroup = channels / groups
  const volume = dAxis.kernel * hAxis.kernel * wAxis.kernel
  const firstChannel = Math.floor(filter / (allFilters / groups)) * inGroup
  const weights = read(1, filter * inGroup * volume, filters * inGroup * volume)
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
          for (let f = 0; f < filters; f++) {
            const weightAt = (f * inGroup + channel) * volume + (kd * hAxis.kernel + kh) * wAxis.kernel
            const outAt = (f * rows + r) * columns - from
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
}
