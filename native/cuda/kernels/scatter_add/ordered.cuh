// Sums of the indices of a row in their order, whatever order these come in. For scatter_rows.cu and scatter_range.cu.
#pragma once
#include "../scatter_rows.h"
#include "cells.cuh"

// Of the indices that `visit` passes, the four lowest from `from` on in their order, 2^32 - 1 behind the last.
struct Four {
  unsigned at[4];
};
template <class Visit>
__device__ __forceinline__ Four next_four(unsigned from, const Visit& visit) {
  Four four = {{0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu}};
  visit([&](unsigned own) {
    if (own < from) own = 0xffffffffu;
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const unsigned low = min(four.at[k], own);
      own = max(four.at[k], own);
      four.at[k] = low;
    }
  });
  return four;
}

// out = x + the sum of the `count` indices of the row in their order; `first`: four of them.
template <int BYTES, class T, class Visit>
__device__ __forceinline__ void add_indices(int count, const Four& first, const Visit& visit, const T* __restrict__ x, const T* __restrict__ src, T* __restrict__ out, long long row, int dim, int lane, int lanes) {
  using Own = Cells<BYTES, T>;
  for (int c = column_of<BYTES, T>(lane); c < dim; c += columns_of<BYTES, T>(lanes)) {
    Own own;
    own.load(x + row * dim, c, lanes, dim);
    float sum[Own::N] = {};
    Four four = first;
    for (int k = 0; k < count; k += 4) {
      if (k > 0) four = next_four(four.at[3] + 1, visit);
      Own value[4];
#pragma unroll
      for (int u = 0; u < 4; u++)
        if (k + u < count) value[u].load(src + static_cast<long long>(four.at[u]) * dim, c, lanes, dim);
#pragma unroll
      for (int u = 0; u < 4; u++)
        if (k + u < count) value[u].add_to(sum);
    }
    own.store(out + row * dim, c, lanes, dim, sum);
  }
}

// Rows that are left to the whole block, of MOST threads at most. Groups of as many threads as a row has columns, a power of two, take every so manyth index of the row.
template <int MOST = link_threads, class T>
static __device__ __noinline__ void add_long(const int* __restrict__ index, const T* __restrict__ x, const T* __restrict__ src, T* __restrict__ out, long long row, int dim, int n) {
  __shared__ unsigned found[MOST / 32];
  __shared__ float parts[MOST];
  const int threads = blockDim.x;
  int lanes = 1;
  while (lanes < dim && lanes * 2 <= threads) lanes *= 2;
  const int groups = threads / lanes, group = threadIdx.x / lanes, lane = threadIdx.x % lanes;
  for (int from = 0; from < dim; from += lanes) {
    const int c = from + lane;
    float sum = 0;
    int met = 0;
    for (int base = 0; base < n; base += threads) {
      const int i = base + threadIdx.x;
      const bool same = i < n && index[i] == row;
      if (!__syncthreads_or(same)) continue;
      const unsigned votes = __ballot_sync(0xffffffffu, same);
      if (threadIdx.x % 32 == 0) found[threadIdx.x / 32] = votes;
      __syncthreads();
      for (int w = 0; w < threads / 32; w++)
        for (unsigned left = found[w]; left; left &= left - 1, met++)
          if (met % groups == group && c < dim) sum += to_float(src[(static_cast<long long>(base) + w * 32 + __ffs(left) - 1) * dim + c]);
    }
    __syncthreads();
    parts[threadIdx.x] = sum;
    __syncthreads();
    if (group == 0 && c < dim) {
      for (int g = 1; g < groups; g++) sum += parts[g * lanes + lane];
      out[row * dim + c] = from_float<T>(to_float(x[row * dim + c]) + sum);
    }
  }
}

// What is read later, on its way to L2.
template <class T>
__device__ __forceinline__ void ahead(const T* p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }
