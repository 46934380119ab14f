// matmul in 16 bits with a k of up to 8, bound by the bytes of the result: a thread has 16 bytes (wide), pairs of 16-bit elements or one element of a few
// rows. Sums in f32, in the order of k.
//   matmul_shallow_<t>_<wide|one|pairs_<rows>>   matmul/shallow.h says when
#include "common/arithmetic.cuh"
#include "common/vec.cuh"
#include "matmul/sizes.h"

namespace {

// `across`: threads of a row of the result; `threads` of all. a repeats after `batch_a` of the batch.
template <class T, int V, int R>
__device__ __forceinline__ void shallow(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, int m, int n, int k, int trans_a, int trans_b, int batch_a, long long across, long long threads) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= threads) return;
  const int blocks = (m + R - 1) / R;
  const long long run = quotient(i, across), batch = quotient(run, blocks), column = (i - run * across) * V;
  const int first = static_cast<int>(run - batch * blocks) * R;
  const T* left = a + (batch - quotient(batch, batch_a) * batch_a) * m * k;
  const T* right = b + batch * n * k;
  const long long left_row = trans_a ? 1 : k, left_k = trans_a ? m : 1;
  float sum[R][V] = {};
  for (int l = 0; l < k; l++) {
    float u[R], v[V];
#pragma unroll
    for (int r = 0; r < R; r++) u[r] = to_float(left[min(first + r, m - 1) * left_row + l * left_k]);
    if (trans_b) {
#pragma unroll
      for (int j = 0; j < V; j++) v[j] = to_float(right[(column + j) * k + l]);
    } else if constexpr (V > 1) {
      unpack<T>(load16(right + static_cast<long long>(l) * n + column), v);
    } else {
      v[0] = to_float(right[static_cast<long long>(l) * n + column]);
    }
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
      for (int j = 0; j < V; j++) sum[r][j] = fmaf(u[r], v[j], sum[r][j]);
  }
#pragma unroll
  for (int r = 0; r < R; r++) {
    if (first + r >= m) break;
    T* to = c + (batch * m + first + r) * n + column;
    if constexpr (V > 1) store16(to, pack<T>(sum[r]));
    else *to = from_float<T>(sum[r][0]);
  }
}

// W pairs of neighbours, `across` apart, in R rows. Pairs lie on 4 bytes, so a row that starts on an odd element has them one element sooner.
template <class T, int W, int R>
__device__ __forceinline__ void shallow_pairs(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, int m, int n, int k, int trans_a, int trans_b, int batch_a, long long across, long long threads) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= threads) return;
  const int blocks = (m + R - 1) / R;
  const long long run = quotient(i, across), batch = quotient(run, blocks), x = i - run * across;
  const int first = static_cast<int>(run - batch * blocks) * R;
  const T* left = a + (batch - quotient(batch, batch_a) * batch_a) * m * k;
  const T* right = b + batch * n * k;
  const long long left_row = trans_a ? 1 : k, left_k = trans_a ? m : 1, right_column = trans_b ? k : 1, right_k = trans_b ? 1 : n;
  const long long start = (batch * m + first) * n;
  const auto sooner = [&](int r) { return static_cast<int>((start ^ (r & n)) & 1); };
  float sum[R][W][2] = {};
  for (int l = 0; l < k; l++) {
    float u[R], v[W][3];
#pragma unroll
    for (int r = 0; r < R; r++) u[r] = to_float(left[min(first + r, m - 1) * left_row + l * left_k]);
#pragma unroll
    for (int w = 0; w < W; w++)
#pragma unroll
      for (int j = 0; j < 3; j++) v[w][j] = to_float(right[min(max(2 * (x + w * across) - 1 + j, 0LL), n - 1LL) * right_column + l * right_k]);
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
      for (int w = 0; w < W; w++) {
        sum[r][w][0] = fmaf(u[r], sooner(r) ? v[w][0] : v[w][1], sum[r][w][0]);
        sum[r][w][1] = fmaf(u[r], sooner(r) ? v[w][1] : v[w][2], sum[r][w][1]);
      }
  }
#pragma unroll
  for (int r = 0; r < R; r++) {
    if (first + r >= m) break;
    T* to = c + start + static_cast<long long>(r) * n;
#pragma unroll
    for (int w = 0; w < W; w++) {
      const long long column = 2 * (x + w * across) - sooner(r);
      if (column >= 0 && column + 1 < n) {
        *reinterpret_cast<uint32_t*>(to + column) = pack_pair(sum[r][w][0], sum[r][w][1], T());
      } else {
        if (column >= 0 && column < n) to[column] = from_float<T>(sum[r][w][0]);
        if (column + 1 < n) to[column + 1] = from_float<T>(sum[r][w][1]);
      }
    }
  }
}

}  // namespace

#define KERNEL(function, T, name, V, R)                                                                                                                                                              \
  extern "C" __global__ void __launch_bounds__(256) matmul_shallow_##T##_##name(const T* a, const T* b, T* c, int m, int n, int k, int trans_a, int trans_b, int batch_a, long long across, \
                                                                                long long threads) {                                                                                       \
    function<T, V, R>(a, b, c, m, n, k, trans_a, trans_b, batch_a, across, threads);                                                                                                       \
  }
#define SHALLOW(T) KERNEL(shallow, T, wide, LANES<T>, opscope::cuda::shallow_rows) KERNEL(shallow, T, one, 1, opscope::cuda::shallow_rows)
#define PAIRS(T) KERNEL(shallow_pairs, T, pairs_8, 1, 8) KERNEL(shallow_pairs, T, pairs_4, 2, 4)
SHALLOW(f16)
SHALLOW(bf16)
PAIRS(f16)
PAIRS(bf16)
