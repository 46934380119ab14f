import type { Suite } from '../types'

const suite: Suite = {
  id: 'transformer-block',
  title: 'Transformer block by parts',
  about: 'Where the time of a transformer encoder layer goes, forward and backward: time, share, bytes, rate and bound of each part.',
  audience: 'Anyone who runs transformers and asks which kernel to improve first',
  processors: 'gpu-first',
  threads: 'all',
  impls: 'preferred',
  libraries: ['torch', 'triton'],
  against: 'PyTorch',
  rating: 'genesis',
  full: { ops: [{ op: 'transformer_block', sizes: '8x512x768x12' }], parts: 'both', dtypes: ['f32', 'f16'], modes: ['hot'], preset: 'standard' },
  quick: { ops: [{ op: 'transformer_block', sizes: '1x64x128x4' }], parts: 'both', dtypes: ['f32'], modes: ['hot'], preset: 'quick' },
  sections: ['blocks', 'summary', 'flags'],
  published: [],
}
export default suite
