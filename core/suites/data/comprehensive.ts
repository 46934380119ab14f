import type { PickedOp, SuiteGrid } from '../../session/sweep-spec'
import type { Suite } from '../types'

const FULL: SuiteGrid = { batch: [16, 32, 64, 128], sequence: [256, 512, 1024, 2048], dimension: [8, 16, 32, 64, 128, 256, 512, 768] }
const QUICK: SuiteGrid = { batch: [16], sequence: [256], dimension: [64, 512] }

/** Products of batch and sequence, each once, as rows; times the dimensions. */
const at = ({ batch: batches, sequence: sequences, dimension: dims }: SuiteGrid): PickedOp[] => {
  const tokens = [...new Set(batches.flatMap((batch) => sequences.map((sequence) => batch * sequence)))].sort((a, b) => a - b)
  const rows = `{${tokens.join(', ')}}x{${dims.join(', ')}}`
  const lengths = [...new Set(tokens.flatMap((token) => dims.map((dim) => token * dim)))].sort((a, b) => a - b).join(', ')
  return [{ op: 'layer_norm', sizes: rows }, { op: 'cross_entropy', sizes: rows }, ...['gelu', 'silu', 'mse_loss'].map((op) => ({ op, sizes: lengths }))]
}

const suite: Suite = {
  id: 'comprehensive',
  title: 'Comprehensive CUDA/Triton benchmark',
  about: 'The fastest implementation of LayerNorm, GELU, Swish and losses over batch, sequence and dimension.',
  audience: 'Authors of CUDA and Triton kernels for transformer layers',
  processors: 'gpu-first',
  threads: 'all',
  impls: 'preferred',
  libraries: ['torch', 'triton'],
  against: 'PyTorch',
  rating: 'comprehensive',
  full: { grid: FULL, opsOf: at, ops: at(FULL), dtypes: ['f32'], modes: ['hot'], preset: 'standard' },
  quick: { grid: QUICK, opsOf: at, ops: at(QUICK), dtypes: ['f32'], modes: ['hot'], preset: 'quick' },
  sections: ['summary', 'fastest', 'times', 'memory', 'flags'],
  format: 'comprehensive',
  published: [],
}
export default suite
