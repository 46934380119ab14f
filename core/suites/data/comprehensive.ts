import type { PickedOp } from '../../session/sweep-spec'
import type { Suite } from '../types'

/** Products of batch and sequence, each once, as rows; times the dimensions. */
const at = (batches: readonly number[], sequences: readonly number[], dims: readonly number[]): PickedOp[] => {
  const tokens = [...new Set(batches.flatMap((batch) => sequences.map((sequence) => batch * sequence)))].sort((a, b) => a - b)
  const rows = `{${tokens.join(', ')}}x{${dims.join(', ')}}`
  const lengths = [...new Set(tokens.flatMap((token) => dims.map((dim) => token * dim)))].sort((a, b) => a - b).join(', ')
  return [{ op: 'layer_norm', sizes: rows }, { op: 'cross_entropy', sizes: rows }, ...['gelu', 'silu', 'mse_loss'].map((op) => ({ op, sizes: lengths }))]
}

const suite: Suite = {
  id: 'comprehensive',
  title: 'Comprehensive CUDA/Triton benchmark',
  about: 'The fastest implementation of LayerNorm, GELU, Swish and losses over batch, sequence and dimension.',
  processors: 'gpu-first',
  threads: 'all',
  impls: 'preferred',
  against: 'PyTorch',
  rating: 'comprehensive',
  full: { ops: at([16, 32, 64, 128], [256, 512, 1024, 2048], [64, 512, 768]), dtypes: ['f32'], modes: ['hot'], preset: 'standard' },
  quick: { ops: at([16], [256], [64, 512]), dtypes: ['f32'], modes: ['hot'], preset: 'quick' },
  sections: ['summary', 'fastest', 'times', 'flags'],
  published: [],
}
export default suite
