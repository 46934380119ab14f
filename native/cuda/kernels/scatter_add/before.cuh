// Sums over the threads of a block that put indices in order (scatter_add/bins.cuh, scatter_add/exact.cuh).
#pragma once

// What the threads before this one have of `own`; in `all` what all THREADS have. `sums`: 32 words.
template <int THREADS>
__device__ __forceinline__ unsigned before_thread(unsigned own, unsigned* sums, unsigned& all) {
  const int t = threadIdx.x;
  unsigned before = own;
  for (int offset = 1; offset < 32; offset *= 2) {
    const unsigned lower = __shfl_up_sync(0xffffffffu, before, offset);
    if (t % 32 >= offset) before += lower;
  }
  if (t % 32 == 31) sums[t / 32] = before;
  __syncthreads();
  all = 0;
  for (int w = 0; w < THREADS / 32; w++) {
    if (w < t / 32) before += sums[w];
    all += sums[w];
  }
  return before - own;
}
