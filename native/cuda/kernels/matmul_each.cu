// Products of narrow rows and a short k (matmul/each.h says when): a thread has four rows of a column of the result, for which what it reads of b serves, and shares nothing
// with others. Sums in f32, in the order of k; tf32 takes the kernel of f32. `a` repeats after `batch_a` of the batch. Numbers are below 2^31.
//   matmul_each_<t>
//   matmul_each_row    f32 of one row: a thread has four columns of it, which lie a block apart
// How to build and run: scripts/gpu/kernels.sh.
#include "common/vec.cuh"
#include "matmul/sizes.h"

namespace {

template <class T>
__device__ __forceinline__ void each(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, int m, int n, int k, int trans_a, int trans_b, int batches, int batch_a, unsigned threads) {
  constexpr int ROWS = opscope::cuda::each_rows, U = 4;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= threads) return;
  const unsigned run = i / n, column = i - run * n, groups = (m + ROWS - 1) / ROWS;
  unsigned product = 0;
  if (batches > 1) product = run / groups;
  const int row = static_cast<int>(run - product * groups) * ROWS, step = trans_a ? 1 : k, step_a = trans_a ? m : 1, step_b = trans_b ? 1 : n;
  const T* left = a + (batch_a < batches ? product % batch_a : product) * m * k;
  const T* right = b + product * n * k + column * (trans_b ? k : 1);
  float sum[ROWS] = {};
  for (int first = 0; first < k; first += U) {
    float u[ROWS][U], v[U];
#pragma unroll
    for (int l = 0; l < U; l++) {
      const int at = min(first + l, k - 1);
      v[l] = first + l < k ? to_float(right[at * step_b]) : 0.0f;
#pragma unroll
      for (int r = 0; r < ROWS; r++) u[r][l] = first + l < k ? to_float(left[min(row + r, m - 1) * step + at * step_a]) : 0.0f;
    }
#pragma unroll
    for (int l = 0; l < U; l++)
#pragma unroll
      for (int r = 0; r < ROWS; r++) sum[r] = fmaf(u[r][l], v[l], sum[r]);
  }
  T* to = c + (product * m + row) * n + column;
#pragma unroll
  for (int r = 0; r < ROWS; r++)
    if (row + r < m) to[r * n] = from_float<T>(sum[r]);
}

// `tiles`: of a product, each a block's columns.
__device__ __forceinline__ void each_row(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n, int k, int trans_b, int batch_a, unsigned tiles) {
  constexpr int COLUMNS = opscope::cuda::each_columns, U = 8;
  const unsigned product = blockIdx.x / tiles, first_column = (blockIdx.x - product * tiles) * (COLUMNS * 128) + threadIdx.x;
  const float* left = a + product % batch_a * k;
  const float* right = b + product * n * k;
  const int step_b = trans_b ? 1 : n;
  int at[COLUMNS];
#pragma unroll
  for (int j = 0; j < COLUMNS; j++) at[j] = static_cast<int>(min(first_column + j * 128, static_cast<unsigned>(n - 1))) * (trans_b ? k : 1);
  float sum[COLUMNS] = {};
  for (int first = 0; first < k; first += U) {
    float u[U], v[COLUMNS][U];
#pragma unroll
    for (int l = 0; l < U; l++) {
      const bool there = first + l < k;
#pragma unroll
      for (int j = 0; j < COLUMNS; j++) v[j][l] = there ? right[at[j] + (first + l) * step_b] : 0.0f;
      u[l] = there ? left[first + l] : 0.0f;
    }
#pragma unroll
    for (int l = 0; l < U; l++)
#pragma unroll
      for (int j = 0; j < COLUMNS; j++) sum[j] = fmaf(u[l], v[j][l], sum[j]);
  }
  float* to = c + product * n;
#pragma unroll
  for (int j = 0; j < COLUMNS; j++)
    if (first_column + j * 128 < n) to[first_column + j * 128] = sum[j];
}

}  // namespace

#define EACH(T)                                                                                                                                                                             \
  extern "C" __global__ void __launch_bounds__(128) matmul_each_##T(const T* a, const T* b, T* c, int m, int n, int k, int trans_a, int trans_b, int batches, int batch_a, unsigned threads) { \
    each(a, b, c, m, n, k, trans_a, trans_b, batches, batch_a, threads);                                                                                                                    \
  }
EACH(f32)
EACH(f16)
EACH(bf16)

extern "C" __global__ void __launch_bounds__(128) matmul_each_row(const float* a, const float* b, float* c, int n, int k, int trans_b, int batch_a, unsigned tiles) { each_row(a, b, c, n, k, trans_b, batch_a, tiles); }
