// matmul in f32 (and tf32) with a k of up to 8, bound by the bytes of the result: a thread keeps its columns of b in registers and goes down the rows, so that a row costs it a few
// loads, its multiply-adds and its stores. Sums in f32, in the order of k. `a` repeats after `batch_a` of the batch.
//   matmul_shallow_f32_<K>_<wide|one>   k of up to K; columns by 16 bytes, or one; matmul/shallow.h says when
// How to build and run: scripts/gpu/kernels.sh.
#include "common/vec.cuh"
#include "matmul/sizes.h"

namespace {

constexpr int ROWS = opscope::cuda::shallow_f32_rows, THREADS = opscope::cuda::shallow_threads;

// f(product, first row): of the products of the batch and the groups of ROWS rows that this thread has, after `begin(product)`. `across`: threads side by side.
template <class Begin, class F>
__device__ __forceinline__ void each_group(int m, int across, int batches, Begin begin, F f) {
  const int down = THREADS / across, line = blockIdx.y * down + threadIdx.x / across;
  for (int product = blockIdx.z; product < batches; product += gridDim.z) {
    begin(product);
    for (long long row = static_cast<long long>(line) * ROWS; row < m; row += static_cast<long long>(gridDim.y) * down * ROWS) f(product, static_cast<int>(row));
  }
}

// Rows of a from `row` on, [row][l]; behind the last one that one again.
template <int K, class T>
__device__ __forceinline__ void load_left(float (&u)[ROWS][K], const T* left, int row, int m, int k, int trans_a) {
  const long long step = trans_a ? 1 : k, step_k = trans_a ? m : 1;
#pragma unroll
  for (int r = 0; r < ROWS; r++)
#pragma unroll
    for (int l = 0; l < K; l++) u[r][l] = l < k ? to_float(left[min(row + r, m - 1) * step + l * step_k]) : 0.0f;
}

// W accesses of V columns, `across` of them apart.
template <class T, int K, int V, int W>
__device__ __forceinline__ void shallow(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, int m, int n, int k, int trans_a, int trans_b, int batches, int batch_a, int across) {
  int column[W];
#pragma unroll
  for (int w = 0; w < W; w++) column[w] = ((blockIdx.x * W + w) * across + threadIdx.x % across) * V;
  if (column[0] >= n) return;
  float v[K][W][V];
  const auto begin = [&](int product) {
    const T* right = b + static_cast<long long>(product) * n * k;
#pragma unroll
    for (int l = 0; l < K; l++)
#pragma unroll
      for (int w = 0; w < W; w++) {
        const int at = min(column[w], n - V);
        if constexpr (V > 1) {
          if (!trans_b) {
            unpack<T>(load16(right + static_cast<long long>(min(l, k - 1)) * n + at), v[l][w]);
            continue;
          }
        }
#pragma unroll
        for (int j = 0; j < V; j++) v[l][w][j] = to_float(trans_b ? right[static_cast<long long>(at + j) * k + min(l, k - 1)] : right[static_cast<long long>(min(l, k - 1)) * n + at + j]);
      }
  };
  each_group(m, across, batches, begin, [&](int product, int row) {
    float u[ROWS][K];
    load_left(u, a + static_cast<long long>(batch_a < batches ? product % batch_a : product) * m * k, row, m, k, trans_a);
    T* to = c + (static_cast<long long>(product) * m + row) * n;
#pragma unroll
    for (int r = 0; r < ROWS; r++, to += n) {
      if (row + r >= m) break;
#pragma unroll
      for (int w = 0; w < W; w++) {
        float sum[V] = {};
#pragma unroll
        for (int l = 0; l < K; l++)
#pragma unroll
          for (int j = 0; j < V; j++)
            if (l < k) sum[j] = fmaf(u[r][l], v[l][w][j], sum[j]);
        if (column[w] >= n) continue;
        if constexpr (V > 1) store16(to + column[w], pack<T>(sum));
        else to[column[w]] = from_float<T>(sum[0]);
      }
    }
  });
}

}  // namespace

#define KERNEL(T, K, name, ...)                                                                                                                                                       \
  extern "C" __global__ void __launch_bounds__(THREADS, 2) matmul_shallow_##T##_##K##_##name(const T* a, const T* b, T* c, int m, int n, int k, int trans_a, int trans_b, int batches, int batch_a, \
                                                                                          int across) {                                                                             \
    __VA_ARGS__(a, b, c, m, n, k, trans_a, trans_b, batches, batch_a, across);                                                                                                      \
  }
#define SHALLOW(K) KERNEL(f32, K, wide, shallow<f32, K, LANES<f32>, 1>) KERNEL(f32, K, one, shallow<f32, K, 1, opscope::cuda::shallow_accesses>)
SHALLOW(1) SHALLOW(2) SHALLOW(4) SHALLOW(8)
