import { z } from 'zod'
import { DTYPE_BYTES, type Dtype } from '../case'
import { formatSize } from '../units'
import { extent } from './params'
import { defineOp, type Family, type Op, type Tolerance } from './types'

/** What one element-wise operation states; everything else follows from it. */
export interface Elementwise {
  id: string
  family: Family
  summary: string
  /** Names of its input tensors, all of n normally distributed elements. */
  inputs: readonly string[]
  /** Operations per element. */
  flopsPerElement: number
  /** Work units of the reference per element (about one multiply-add each). */
  referenceCost: number
  /** float64 result of elements 0 .. out.length, from the rounded inputs. */
  reference: (inputs: readonly Float32Array[], out: Float64Array) => void
  tolerance: (dtype: Dtype) => Tolerance
}

/** An op that makes each of n output elements from the same element of its inputs. dims: [n]. Each tensor moves once. */
export const elementwise = (e: Elementwise): Op =>
  defineOp({
    id: e.id,
    family: e.family,
    summary: e.summary,
    sizeKind: 'vector',
    params: z.object({ n: extent() }),
    dtypes: ['f32', 'f16', 'bf16'],
    shapeLabel: ({ n }) => formatSize(n),
    inputs: ({ n }) => e.inputs.map((name) => ({ name, shape: [n], fill: { kind: 'normal', scale: 1 } })),
    outputShape: ({ n }) => [n],
    dims: ({ n }) => [n],
    bytes: ({ n }, dtype) => (e.inputs.length + 1) * n * DTYPE_BYTES[dtype],
    flops: ({ n }) => e.flopsPerElement * n,
    granule: () => 1,
    referenceCost: () => e.referenceCost,
    reference: (_p, read, start, count) => {
      const out = new Float64Array(count)
      e.reference(e.inputs.map((_name, i) => read(i, start, count)), out)
      return out
    },
    tolerance: (_p, dtype) => e.tolerance(dtype),
  })
