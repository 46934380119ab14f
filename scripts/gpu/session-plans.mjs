/** What scripts/gpu/app-session.mjs can measure: the sweep, which implementations of a device, and which pictures show it. */

const ops = ['copy', 'add', 'mul', 'exp', 'gelu', 'sum', 'softmax', 'layer_norm', 'matmul'].map((op) => (op === 'sum' ? { op, variants: { axis: ['all', 'last', 'first'] } } : { op }))

const preferred = (device) => [device.impls.find((impl) => impl.preferred && impl.available.ok)?.id ?? device.impls[0].id]

/** Plans by name. `impls(device)`: ids to measure, none to leave the device out. */
export const PLANS = {
  /** Every device with its preferred implementation, all dtypes. */
  'app-session': {
    title: 'All operations',
    impls: (device) => (device.backend === 'python' ? [] : preferred(device)),
    sweep: { ops, sizes: { vector: '2^16..2^26 x4', matrix: '1024x1024, 4096x4096, 16384x4096', gemm: '512, 1024, 2048, 4096' }, dtypes: ['f32', 'f16', 'bf16', 'tf32'], modes: ['cold', 'hot'] },
    pictures: [
      { file: 'session', tab: 'throughput', op: 'softmax', mode: 'cold' },
      { file: 'roofline', tab: 'roofline', dtype: 'f32' },
    ],
  },
  /** Our kernels on CUDA and WebGPU beside everything Python computes with on the same card. */
  'python-session': {
    title: 'Beside PyTorch and Triton',
    impls: (device) => {
      if (device.backend === 'cpu' || device.id.startsWith('python:cpu') || device.id.includes('@')) return []
      return device.backend === 'python' ? device.impls.filter((impl) => impl.available.ok).map((impl) => impl.id) : preferred(device)
    },
    sweep: { ops, sizes: { vector: '64Ki, 1Mi, 16Mi, 64Mi', matrix: '256x256, 1024x1024, 4096x4096, 16384x4096', gemm: '256, 1024, 4096, 8192' }, dtypes: ['f32', 'bf16'], modes: ['cold', 'hot'], measure: { maxSeconds: 2, maxWarmupSeconds: 0.3, verifyWork: 2e6 } },
    pictures: [
      { file: 'python-speedup', tab: 'speedup', dtype: 'bf16', mode: 'cold' },
      { file: 'python-throughput', tab: 'throughput', op: 'layer_norm', dtype: 'bf16', mode: 'cold' },
    ],
  },
}
