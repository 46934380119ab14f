import { expect, test } from 'vitest'
import { pythonEnvironment } from './environment'

test('a Python has the environment of the user, less its own switches and what would set threads behind the back of a case', () => {
  const kept = { PATH: '/bin', CUDA_VISIBLE_DEVICES: '1', LD_LIBRARY_PATH: '/lib', OPSCOPE_GPU_HOLDERS: '/tmp/x', TRITON_CACHE_DIR: '/cache', OMP_WAIT_POLICY: 'PASSIVE' }
  const gone = { PYTHONPATH: '/evil', PYTHONHOME: '/x', PYTHONSTARTUP: 'x.py', OMP_NUM_THREADS: '1', MKL_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1', KMP_AFFINITY: 'compact', GOMP_CPU_AFFINITY: '0', OPSCOPE_PYTHON: '{}' }
  expect(pythonEnvironment({ ...kept, ...gone })).toEqual({ ...kept, OMP_DYNAMIC: 'FALSE', MKL_DYNAMIC: 'FALSE' })
})
