import { defineOp, arithmetic } from '../define'
import { heads as form } from '../forms'

/**
 * Rotary position embedding (Su et al. 2021): each pair (a, b) of a head of token t becomes (a cos - b sin, b cos + a sin) with the
 * tables' cos[t, i] and sin[t, i] for pair i < headDim / 2. A pair is elements (i, i + headDim / 2), as in GPT-NeoX and LLaMA, or
 * (2i, 2i + 1) with `interleaved`, as in GPT-J. x, out [tokens, heads, headDim]; cos, sin [tokens, headDim / 2], made once per
 * model and therefore inputs. They are filled like any input; the formula holds for all of them.
 * dims: [tokens, heads, headDim, interleaved as 0 or 1]. Six operations a pair: four multiplies, a subtract, an add.
 */
export default defineOp<{ tokens: number; heads: number; headDim: number; interleaved: boolean }>({
  id: 'rope',
  family: 'lookup',
  summary: 'Rotary position embedding with tables of cosines and sines',
  torch: 'torch.cat((a * cos - b * sin, b * cos + a * sin), -1)',
  size: form,
  attributes: { interleaved: { title: 'Interleaved pairs', kind: 'flag', default: false } },
  refuse: ({ headDim }) => (headDim % 2 === 0 ? undefined : `headDim (${headDim}) must be even`),
  dtypes: ['f32', 'f16', 'bf16'],
  tensors: ({ tokens, heads, headDim }) => [
    { name: 'x', shape: [tokens, heads, headDim], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'cos', shape: [tokens, headDim / 2], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'sin', shape: [tokens, headDim / 2], role: 'in', fill: { kind: 'normal', scale: 1 } },
    { name: 'out', shape: [tokens, heads, headDim], role: 'out' },
  ],
  dims: ({ tokens, heads, headDim, interleaved }) => [tokens, heads, headDim, Number(interleaved)],
  flops: ({ tokens, heads, headDim }) => 3 * tokens * heads * headDim,
  granule: ({ headDim }) => headDim,
  referenceCost: () => 6,
  reference: ({ heads, headDim, interleaved }, read, start, count) => {
    const half = headDim / 2
    const x = read(0, start, count)
    const first = Math.floor(start / headDim / heads)
    const tokens = Math.floor((start + count - 1) / headDim / heads) - first + 1
    const cos = read(1, first * half, tokens * half)
    const sin = read(2, first * half, tokens * half)
    const out = new Float64Array(count)
    for (let at = 0; at < count; at += headDim) {
      const angle = (Math.floor((start + at) / headDim / heads) - first) * half
      for (let i = 0; i < half; i++) {
        const a = at + (interleaved ? 2 * i : i)
        const b = at + (interleaved ? 2 * i + 1 : i + half)
        out[a] = x[a]! * cos[angle + i]! - x[b]! * sin[angle + i]!
        out[b] = x[b]! * cos[angle + i]! + x[a]! * sin[angle + i]!
      }
    }
    return out
  },
  // Products of up to 12 may cancel.
  tolerance: (_p, dtype) => arithmetic(dtype, 2e-6),
})
