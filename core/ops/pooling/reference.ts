import type { ReadInput } from '../types'

/** Window of output `o` along one axis: inputs `first .. end`, and the count that an average divides by (padding included). */
export type Window = (o: number) => { first: number; end: number; counted: number }

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
export function pooledRange({ height, width, outHeight, outWidth, rows, columns, max }: Pooling, read: ReadInput, start: number, count: number): Float64Array {
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
          if (value > best) best = value
        }
      }
      out[done + o - from] = max ? best : sum / (row.counted * column.counted)
    }
    done += to - from
  }
  return out
}
