import { EPS } from '../attributes'
import { rowOp } from '../rows'
import { normalized } from '../tolerance'

/**
 * For every token of x [tokens, dim]: out = x / sqrt(mean of x² + eps) * weight, the mean taken within the token
 * (Zhang & Sennrich 2019). Inputs: x [tokens, dim], weight [dim].
 * PyTorch: torch.nn.functional.rms_norm(x, [dim], weight, eps). dims: [tokens, dim], scalars: [eps].
 * Four operations per element: square, add, scale, weight.
 */
export default rowOp({
  id: 'rms_norm',
  family: 'normalization',
  summary: 'Root mean square normalisation over the last axis',
  torch: 'F.rms_norm(x, [dim], weight, eps)',
  extents: ['tokens', 'dim'],
  shared: ['weight'],
  attributes: EPS,
  flops: 4,
  cost: 5,
  row: (out, [x], [weight], [eps]) => {
    const dim = out.length
    let squares = 0
    for (let i = 0; i < dim; i++) squares += x![i]! * x![i]!
    const scale = 1 / Math.sqrt(squares / dim + eps!)
    for (let i = 0; i < dim; i++) out[i] = x![i]! * scale * weight![i]!
  },
  tolerance: normalized,
})
