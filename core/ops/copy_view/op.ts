import type { Params } from '../../case'
import { arithmetic, defineOp, exact } from '../define'
import type { SizeForm } from '../forms'

/** Most views of one call. */
export const MAX_VIEWS = 3

/** A view of four axes, named as those of the heads of an attention: by default, a third of the features of every token as [batch, heads, seq, headDim]. */
const view: SizeForm = {
  id: 'view',
  title: 'Strided views',
  extents: [
    { name: 'batch', title: 'Batch' }, { name: 'heads', title: 'Heads' }, { name: 'seq', title: 'Tokens' }, { name: 'headDim', title: 'Head dim' },
    { name: 'views', title: 'Views', default: 1 },
    { name: 'distance', title: 'Distance of views', min: 0, default: ({ heads, headDim }) => heads! * headDim! },
    { name: 'offset', title: 'Offset', min: 0, default: 0 },
    { name: 'tokenStride', title: 'Token stride', min: 0, default: ({ views, heads, headDim }) => views! * heads! * headDim! },
    { name: 'headStride', title: 'Head stride', min: 0, default: ({ headDim }) => headDim! },
    { name: 'batchStride', title: 'Batch stride', min: 0, default: ({ seq, tokenStride }) => seq! * tokenStride! },
    { name: 'elements', title: 'Elements of x', default: ({ batch, batchStride, offset }) => batch! * batchStride! + offset! },
  ],
  short: {},
  positional: 4,
  example: '2x4x12x8 views=3',
  batchExtent: 'batch',
  presets: {},
}

interface ViewParams {
  batch: number
  heads: number
  seq: number
  headDim: number
  views: number
  distance: number
  offset: number
  tokenStride: number
  headStride: number
  batchStride: number
  elements: number
  bias: boolean
}

/** Where element `at` of view 0 is in x. */
function placeOf({ heads, seq, headDim, offset, tokenStride, headStride, batchStride }: Omit<ViewParams, 'bias'>, at: number): number {
  const row = Math.floor(at / headDim)
  const plane = Math.floor(row / seq)
  return offset + Math.floor(plane / heads) * batchStride + (plane % heads) * headStride + (row % seq) * tokenStride + (at % headDim)
}

/**
 * Copies of strided views, each one element after the other, for the parts of a composite op that read them (composite-plan.ts):
 *   out_v[b, h, s, d] = x[offset + v distance + b batchStride + h headStride + s tokenStride + d]
 * for `views` outputs. With a bias, x is rows of tokenStride elements, to each of which it is added.
 * Inputs: x [elements], bias [tokenStride] where there is one; outputs [batch, heads, seq, headDim]. PyTorch: torch.as_strided_copy.
 * dims: [elements, views, distance, offset, batch, heads, seq, headDim, batchStride, headStride, tokenStride, 1 with a bias].
 */
export default defineOp<ViewParams & Params>({
  id: 'copy_view',
  family: 'part',
  summary: 'Copies of strided views, between the parts of a composite',
  torch: 'torch.as_strided_copy(x, size, stride, offset)',
  size: view,
  refuse: (p) => {
    const row = p.offset + (p.views - 1) * p.distance + (p.heads - 1) * p.headStride + p.headDim
    if (p.bias && (row > p.tokenStride || p.batchStride % p.tokenStride !== 0)) return `with a bias, views must lie within rows of tokenStride (${p.tokenStride}) elements`
    if (p.views > MAX_VIEWS) return `views (${p.views}) must be at most ${MAX_VIEWS}`
    const last = placeOf(p, p.batch * p.heads * p.seq * p.headDim - 1) + (p.views - 1) * p.distance
    return last < p.elements ? undefined : `the views reach element ${last}, and x has ${p.elements}`
  },
  dtypes: ['f32', 'f16', 'bf16'],
  attributes: { bias: { title: 'Bias', kind: 'flag', default: false } },
  tensors: ({ elements, views, batch, heads, seq, headDim, tokenStride, bias }) => [
    { name: 'x', shape: [elements], role: 'in', fill: { kind: 'normal', scale: 1 } },
    ...(bias ? [{ name: 'bias', shape: [tokenStride], role: 'in' as const, fill: { kind: 'normal', scale: 1 } as const }] : []),
    ...Array.from({ length: views }, (_, v) => ({ name: views === 1 ? 'out' : `out${v}`, shape: [batch, heads, seq, headDim], role: 'out' as const })),
  ],
  dims: (p) => [p.elements, p.views, p.distance, p.offset, p.batch, p.heads, p.seq, p.headDim, p.batchStride, p.headStride, p.tokenStride, p.bias ? 1 : 0],
  flops: ({ views, batch, heads, seq, headDim, bias }) => (bias ? views * batch * heads * seq * headDim : 0),
  granule: ({ headDim }) => headDim,
  // Reads of x are as short as a row.
  referenceCost: () => 8,
  reference: (p, read, start, count, output) => {
    const out = new Float64Array(count)
    for (let at = 0; at < count; at += p.headDim) {
      const from = placeOf(p, start + at) + output * p.distance
      out.set(read(0, from, p.headDim), at)
      if (p.bias) for (const [i, value] of read(1, from % p.tokenStride, p.headDim).entries()) out[at + i]! += value
    }
    return out
  },
  tolerance: ({ bias }, dtype) => (bias ? arithmetic(dtype) : exact),
})
