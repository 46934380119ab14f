import type { SizeForm } from './types'

/** Rows of a table that indices name: embedding, gather, scatter_add. */
export const table: SizeForm = {
  id: 'table',
  title: 'Tables (rows × dim × indices)',
  extents: [{ name: 'rows', title: 'Rows' }, { name: 'dim', title: 'Dim' }, { name: 'indices', title: 'Indices' }],
  short: {},
  positional: 3,
  example: '32000x4096x8192',
  batchExtent: 'indices',
  presets: {
    tour: '1000x64x512, 32000x256x4096', simd: '32, 100, 256', small: '1Kix256x1Ki', medium: '32000x512x4Ki', large: '50257x768x16Ki', xlarge: '128256x4096x16Ki',
    classes: '1Kix256x1Ki, 32000x512x4Ki, 50257x768x16Ki', scaling: '32000x512x{64..16384}', batched: '50257x768x{4096..65536}', model: '50257x768x8192, 32000x4096x4096, 128256x4096x8192',
  },
}

/** Vectors of headDim elements for each token and head: rotary embeddings. */
export const heads: SizeForm = {
  id: 'heads',
  title: 'Heads (tokens × heads × head dim)',
  extents: [{ name: 'tokens', title: 'Tokens' }, { name: 'heads', title: 'Heads' }, { name: 'headDim', title: 'Head dim' }],
  short: {},
  positional: 3,
  example: '2048x32x128',
  batchExtent: 'tokens',
  presets: {
    tour: '128x8x64, 2048x32x128', simd: '8, 32, 64', small: '256x16x64', medium: '1024x32x128', large: '4096x32x128', xlarge: '16384x32x128',
    classes: '256x16x64, 1024x32x128, 4096x32x128, 16384x32x128', scaling: '{16..16384}x32x128', batched: '{4096..65536}x16x64', model: '2048x32x128, 8192x8x128, 4096x64x128',
  },
}
