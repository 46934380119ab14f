import type { Dtype, Params } from '../case'
import type { FillSpec } from '../values/random'
import type { AtenForm } from './aten'
import type { AttributeSpec } from './attributes'
import { defineOp } from './define'
import { matrix, withNames } from './forms'
import type { ComputeUnit, Family, InputValues, Op, Tolerance } from './types'

/** What an op states that makes each row of its output from the same row of its inputs; everything else follows from it. */
export interface RowOp {
  id: string
  family: Family
  summary: string
  torch: string
  representative?: boolean
  /** Names of its extents where they are not rows and cols. */
  extents?: readonly [rows: string, cols: string]
  /** Inputs [rows, cols], and their fills where these are not unit normals. Default: x. */
  inputs?: Readonly<Record<string, (cols: number) => FillSpec>>
  /** Inputs [cols] that all rows share: weight, bias. */
  shared?: readonly string[]
  output?: string
  /** The aten calls of it; default: none. */
  aten?: readonly AtenForm[]
  attributes?: Readonly<Record<string, AttributeSpec & { kind: 'number' }>>
  unit?: ComputeUnit
  /** Operations per element. */
  flops: number
  /** Work units of the reference per element. */
  cost: number
  /** Writes one row of the output in float64. */
  row(out: Float64Array, inputs: readonly InputValues[], shared: readonly InputValues[], attributes: readonly number[]): void
  tolerance(dtype: Dtype, cols: number): Tolerance
}

/** log(sum of e^x) of `count` elements from `start` on, without overflow. */
export function logSumExp(x: InputValues, start = 0, count = x.length): number {
  let max = -Infinity
  for (let i = start; i < start + count; i++) if (x[i]! > max) max = x[i]!
  let sum = 0
  for (let i = start; i < start + count; i++) sum += Math.exp(x[i]! - max)
  return max + Math.log(sum)
}

/** Unit normals. */
export const normal = (): FillSpec => ({ kind: 'normal', scale: 1 })

/** An op over rows. Each tensor moves once. dims: [rows, cols]; scalars: the attributes in their order. */
export function rowOp({ extents = ['rows', 'cols'], inputs = { x: normal }, shared = [], output = 'out', attributes = {}, ...own }: RowOp): Op {
  const sizeOf = (p: Params) => ({ rows: p[extents[0]] as number, cols: p[extents[1]] as number })
  const scalars = (p: Params) => Object.keys(attributes).map((name) => p[name] as number)
  const names = Object.entries(inputs)
  return defineOp<Params>({
    id: own.id,
    family: own.family,
    summary: own.summary,
    torch: own.torch,
    ...(own.aten ? { aten: own.aten } : {}),
    ...(own.representative ? { representative: true } : {}),
    size: extents[0] === 'rows' ? matrix : withNames(matrix, extents),
    attributes,
    dtypes: ['f32', 'f16', 'bf16'],
    tensors: (p) => {
      const { rows, cols } = sizeOf(p)
      return [
        ...names.map(([name, fill]) => ({ name, shape: [rows, cols], role: 'in' as const, fill: fill(cols) })),
        ...shared.map((name) => ({ name, shape: [cols], role: 'in' as const, fill: normal() })),
        { name: output, shape: [rows, cols], role: 'out' as const },
      ]
    },
    dims: (p) => [sizeOf(p).rows, sizeOf(p).cols],
    scalars,
    flops: (p) => own.flops * sizeOf(p).rows * sizeOf(p).cols,
    unit: () => own.unit ?? 'vector',
    granule: (p) => sizeOf(p).cols,
    referenceCost: () => own.cost,
    reference: (p, read, start, count) => {
      const { cols } = sizeOf(p)
      const vectors = shared.map((_, i) => read(names.length + i, 0, cols))
      const numbers = scalars(p)
      const whole = names.map((_, i) => read(i, start, count))
      const out = new Float64Array(count)
      for (let at = 0; at < count; at += cols) own.row(out.subarray(at, at + cols), whole.map((input) => input.subarray(at, at + cols)), vectors, numbers)
      return out
    },
    tolerance: (p, dtype) => own.tolerance(dtype, sizeOf(p).cols),
  })
}
