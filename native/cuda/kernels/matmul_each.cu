// Products so small that a call waits for memory more than it works (matmul/each.h says when): nothing is shared between threads, and the loads of a thread
// are on their way together. Sums in f32, in a fixed order; tf32 takes the kernels of f32. `a` repeats after `batch_a` of the batch.
//   matmul_each_<t>        k of up to 16: a thread for each result
//   matmul_each_<t>_rows   of narrow results: for four rows of a column
//   matmul_each_<t>_warp   longer k: a warp for each result
//   matmul_each_<t>_block  longer still, few results: a block for each
// How to build and run: scripts/gpu/kernels.sh.
#include "common/reduce.cuh"
#include "common/vec.cuh"
#include "matmul/sizes.h"

namespace {

// Operands of one result: the elements of k lie `step_a` and `step_b` apart. Few results of a short k have operands below 2^31 elements.
template <class T>
struct Terms {
  const T *left, *right;
  int step_a, step_b;

  __device__ __forceinline__ Terms(const T* a, const T* b, unsigned result, int m, int n, int k, int trans_a, int trans_b, int batches, int batch_a) {
    const unsigned row = result / n, column = result - row * n;
    unsigned product = 0;
    if (batches > 1) product = row / m;
    const unsigned repeated = batch_a < batches ? product % batch_a : product;
    step_a = trans_a ? m : 1, step_b = trans_b ? 1 : n;
    left = a + repeated * m * k + (row - product * m) * (trans_a ? 1 : k);
    right = b + product * n * k + column * (trans_b ? k : 1);
  }
};

template <class T>
__device__ __forceinline__ void each(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, int m, int n, int k, int trans_a, int trans_b, int batches, int batch_a, unsigned results) {
  constexpr int U = opscope::cuda::each_k;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= results) return;
  const Terms<T> terms(a, b, i, m, n, k, trans_a, trans_b, batches, batch_a);
  T u[U], v[U];
#pragma unroll
  for (int l = 0; l < U; l++)
    if (l < k) u[l] = terms.left[l * terms.step_a], v[l] = terms.right[l * terms.step_b];
  float sum = 0;
#pragma unroll
  for (int l = 0; l < U; l++)
    if (l < k) sum = fmaf(to_float(u[l]), to_float(v[l]), sum);
  c[i] = from_float<T>(sum);
}

// ROWS neighbours of a column, for narrow results of many rows: what is read of b serves all of them.
template <class T>
__device__ __forceinline__ void each_rows(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, int m, int n, int k, int trans_a, int trans_b, int batches, int batch_a, unsigned results) {
  constexpr int ROWS = opscope::cuda::each_thread_rows, U = 4;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= results) return;
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

// `lane` of `lanes` has every so many of the terms.
template <class T>
__device__ __forceinline__ float sum_of(const Terms<T>& terms, int k, int lane, int lanes) {
  constexpr int U = 8;
  float sum = 0;
  for (int first = lane; first < k; first += U * lanes) {
    float u[U], v[U];
#pragma unroll
    for (int l = 0; l < U; l++) {
      const int at = first + l * lanes;
      u[l] = at < k ? to_float(terms.left[at * terms.step_a]) : 0.0f;
      v[l] = at < k ? to_float(terms.right[at * terms.step_b]) : 0.0f;
    }
#pragma unroll
    for (int l = 0; l < U; l++) sum = fmaf(u[l], v[l], sum);
  }
  return sum;
}

template <class T>
__device__ __forceinline__ void each_warp(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, int m, int n, int k, int trans_a, int trans_b, int batches, int batch_a, unsigned results) {
  const unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (i >= results) return;
  const Terms<T> terms(a, b, i, m, n, k, trans_a, trans_b, batches, batch_a);
  const float sum = warp_reduce(sum_of(terms, k, threadIdx.x % 32, 32), AddOp());
  if (threadIdx.x % 32 == 0) c[i] = from_float<T>(sum);
}

template <class T>
__device__ __forceinline__ void each_block(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, int m, int n, int k, int trans_a, int trans_b, int batches, int batch_a, unsigned) {
  __shared__ float scratch[32];
  const Terms<T> terms(a, b, blockIdx.x, m, n, k, trans_a, trans_b, batches, batch_a);
  const float sum = block_reduce(sum_of(terms, k, threadIdx.x, blockDim.x), 0.0f, scratch, AddOp());
  if (threadIdx.x == 0) c[blockIdx.x] = from_float<T>(sum);
}

}  // namespace

#define KERNEL(function, T, name, THREADS)                                                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(THREADS) matmul_each_##T##name(const T* a, const T* b, T* c, int m, int n, int k, int trans_a, int trans_b, int batches, int batch_a, unsigned results) { \
    function(a, b, c, m, n, k, trans_a, trans_b, batches, batch_a, results);                                                                                                              \
  }
#define EACH(T) KERNEL(each, T, , 128) KERNEL(each_rows, T, _rows, 128) KERNEL(each_warp, T, _warp, 128) KERNEL(each_block, T, _block, 256)
EACH(f32)
EACH(f16)
EACH(bf16)
