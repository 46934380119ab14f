import { EPS } from '../attributes'
import { rowOp } from '../rows'
import { normalized } from '../tolerance'

/**
 * For every token t of x [tokens, dim]: out = (x - mean) / sqrt(variance + eps) * weight + bias, with the mean and the
 * biased variance of that token (Ba, Kiros & Hinton 2016). Inputs: x [tokens, dim], weight [dim], bias [dim].
 * PyTorch: torch.nn.functional.layer_norm(x, [dim], weight, bias). dims: [tokens, dim], scalars: [eps].
 * Seven operations per element: add for the mean, subtract, square, add for the variance, scale, weight, bias.
 */
export default rowOp({
  id: 'layer_norm',
  family: 'normalization',
  summary: 'Layer normalisation over the last axis',
  representative: true,
  torch: 'F.layer_norm(x, [dim], weight, bias, eps)',
  extents: ['tokens', 'dim'],
  shared: ['weight', 'bias'],
  attributes: EPS,
  flops: 7,
  cost: 6,
  row: (out, [x], [weight, bias], [eps]) => {
    const dim = out.length
    let sum = 0
    for (let i = 0; i < dim; i++) sum += x![i]!
    const mean = sum / dim
    let squares = 0
    for (let i = 0; i < dim; i++) squares += (x![i]! - mean) ** 2
    const scale = 1 / Math.sqrt(squares / dim + eps!)
    for (let i = 0; i < dim; i++) out[i] = (x![i]! - mean) * scale * weight![i]! + bias![i]!
  },
  tolerance: (dtype, dim) => normalized(dtype, dim, 4),
})
