import { expect, it } from 'vitest'
import { beginMark, endMark, readLog } from './bench/sanitizer/log'

/** As compute-sanitizer 2025 writes it, with the marks of the bench between. */
const MEMCHECK = `========= COMPUTE-SANITIZER
${beginMark('add f32 n=7')}
${endMark(12)}
${beginMark('sum bf16 cols=3,rows=5')}
========= Invalid __global__ write of size 4 bytes
=========     at reduce_rows_bf16(float *)+0x70 in reduction.cu:31
=========     by thread (32,0,0) in block (0,0,0)
=========     Access to 0x7f1c00000280 is out of bounds
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: cuLaunchKernelEx [0x2d1d1f] in libcuda.so.1
=========
========= Invalid __global__ write of size 4 bytes
=========     at reduce_join(float *)+0x10
=========
========= Program hit CUDA_ERROR_LAUNCH_FAILED (error 719) due to "unspecified launch failure" on CUDA API call to cuStreamSynchronize.
=========     Saved host backtrace up to driver entry point at error
${endMark(80, 'unspecified launch failure')}
${beginMark('exp f16 n=9')}
`
const RACECHECK = `${beginMark('exp f16 n=9')}
========= Error: Race reported between Write access at softmax_rows_f32+0x190
=========     and Read access at softmax_rows_f32+0x210 [24 hazards]
=========
${endMark(30)}
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
========= Uninitialized __global__ memory read of size 4 bytes
`

it('gives each case the reports between its marks, with the kernel of the first', () => {
  const { cases, outside } = readLog(MEMCHECK)
  expect(cases).toEqual([
    { name: 'add f32 n=7', done: true, ms: 12, errors: 0 },
    { name: 'sum bf16 cols=3,rows=5', done: true, ms: 80, errors: 3, first: 'Invalid __global__ write of size 4 bytes (reduce_rows_bf16)', failure: 'unspecified launch failure' },
    { name: 'exp f16 n=9', done: false, errors: 0 },
  ])
  expect(outside).toEqual([])
})

it('takes a case that a kill cut off from the run that finished it, and counts what no case made', () => {
  const { cases, outside } = readLog(MEMCHECK + RACECHECK)
  expect(cases).toHaveLength(3)
  expect(cases[2]).toEqual({ name: 'exp f16 n=9', done: true, ms: 30, errors: 1, first: 'Error: Race reported between Write access at softmax_rows_f32+0x190' })
  expect(outside).toEqual(['Uninitialized __global__ memory read of size 4 bytes'])
})
