// matmul with a k of up to 8, bound by the bytes of the result: a thread keeps its columns of b in registers and goes down the rows, so that a row costs it a few
// loads, its multiply-adds and its stores. Sums in f32, in the order of k; tf32 takes the kernels of f32. `a` repeats after `batch_a` of the batch.
//   matmul_shallow_<t>_<K>_<wide|one|pairs>   k of up to K; columns by 16 bytes, one, or pairs of 16-bit elements; matmul/shallow.h says when
// How to build and run: scripts/gpu/kernels.sh.
#include "common/vec.cuh"
#include "matmul/shallow.h"

namespace {

constexpr int ROWS = opscope::cuda::shallow_rows, THREADS = opscope::cuda::shallow_threads;

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

// W pairs of neighbours. Pairs lie on 4 bytes, so a row that starts on an odd element has them one element sooner.
template <class T, int K, int W>
__device__ __forceinline__ void shallow_pairs(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, int m, int n, int k, int trans_a, int trans_b, int batches, int batch_a, int across) {
  int pair[W];
#pragma unroll
  for (int w = 0; w < W; w++) pair[w] = (blockIdx.x * W + w) * across + threadIdx.x % across;
  if (pair[0] * 2 > n) return;
  float v[K][W][3];
  const auto begin = [&](int product) {
    const T* right = b + static_cast<long long>(product) * n * k;
#pragma unroll
    for (int l = 0; l < K; l++)
#pragma unroll
      for (int w = 0; w < W; w++)
#pragma unroll
        for (int j = 0; j < 3; j++) {
          const long long at = min(max(2 * pair[w] - 1 + j, 0), n - 1);
          v[l][w][j] = to_float(right[trans_b ? at * k + min(l, k - 1) : static_cast<long long>(min(l, k - 1)) * n + at]);
        }
  };
  each_group(m, across, batches, begin, [&](int product, int row) {
    float u[ROWS][K];
    load_left(u, a + static_cast<long long>(batch_a < batches ? product % batch_a : product) * m * k, row, m, k, trans_a);
    const long long start = (static_cast<long long>(product) * m + row) * n;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      if (row + r >= m) break;
      const int sooner = static_cast<int>(start ^ (r & n)) & 1;
      T* to = c + start + static_cast<long long>(r) * n;
#pragma unroll
      for (int w = 0; w < W; w++) {
        float x = 0, y = 0;
#pragma unroll
        for (int l = 0; l < K; l++)
          if (l < k) x = fmaf(u[r][l], sooner ? v[l][w][0] : v[l][w][1], x), y = fmaf(u[r][l], sooner ? v[l][w][1] : v[l][w][2], y);
        const int column = 2 * pair[w] - sooner;
        if (column >= 0 && column + 1 < n) {
          *reinterpret_cast<uint32_t*>(to + column) = pack_pair(x, y, T());
        } else {
          if (column >= 0 && column < n) to[column] = from_float<T>(x);
          if (column + 1 < n) to[column + 1] = from_float<T>(y);
        }
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
#define SHALLOW(T, K) KERNEL(T, K, wide, shallow<T, K, LANES<T>, 1>) KERNEL(T, K, one, shallow<T, K, 1, opscope::cuda::shallow_accesses>)
#define PAIRS(T, K) KERNEL(T, K, pairs, shallow_pairs<T, K, opscope::cuda::shallow_accesses>)
#define EACH_K(KERNELS, T) KERNELS(T, 1) KERNELS(T, 2) KERNELS(T, 4) KERNELS(T, 8)
EACH_K(SHALLOW, f32)
EACH_K(SHALLOW, f16)
EACH_K(SHALLOW, bf16)
EACH_K(PAIRS, f16)
EACH_K(PAIRS, bf16)
