// scatter_add (scatter_add.cu) of few indices in a large table, scatter_touch_<t>: a copy whose warps each look whether one of the indices has a row among what they copy.
#include "scatter_touch.h"
#include "common/vec.cuh"

namespace {

// `elements` of the table. A warp has V vectors of each lane, one piece of the table.
template <class T>
__device__ __forceinline__ void touch(const T* __restrict__ x, const int* __restrict__ index, const T* __restrict__ src, T* __restrict__ out, long long elements, long long rows, long long dim, int n) {
  constexpr int L = LANES<T>, V = touch_vectors;
  const int lane = threadIdx.x % 32;
  const long long vectors = elements / L, piece = (static_cast<long long>(blockIdx.x) * (touch_threads / 32) + threadIdx.x / 32) * (32 * V), begin = piece * L, end = begin + 32 * V * L;
  uint4 own[V];
#pragma unroll
  for (int v = 0; v < V; v++)
    if (piece + v * 32 + lane < vectors) own[v] = load16(x + (piece + v * 32 + lane) * L);
  // Index `at` of this lane: the first element of its row, or one that no warp has.
  const auto row_of = [&](int at) {
    const int row = at < n ? index[at] : -1;
    return row >= 0 && row < rows ? row * dim : elements + dim;
  };
  unsigned met = 0;
#pragma unroll 1
  for (int base = 0; base < n; base += 32) {
    const long long first = row_of(base + lane);
    met |= __ballot_sync(0xffffffffu, first < end && first + dim > begin);
  }
  // Sums of `count` elements from `from` on, in the order of the indices.
  const auto add = [&](long long from, int count, float* sum) {
    for (int base = 0; base < n; base += 32) {
      const long long first = row_of(base + lane);
      for (unsigned left = __ballot_sync(0xffffffffu, first < end && first + dim > begin); left; left &= left - 1) {
        const int k = __ffs(left) - 1;
        const long long column = from - __shfl_sync(0xffffffffu, first, k);
#pragma unroll
        for (int j = 0; j < L; j++)
          if (j < count && column + j >= 0 && column + j < dim) sum[j] += to_float(src[(base + k) * dim + column + j]);
      }
    }
  };
  if (met != 0) {
#pragma unroll
    for (int v = 0; v < V; v++) {
      const bool mine = piece + v * 32 + lane < vectors;
      float sum[L] = {}, f[L];
      add((piece + v * 32 + lane) * L, mine ? L : 0, sum);
      if (!mine) continue;
      unpack<T>(own[v], f);
#pragma unroll
      for (int j = 0; j < L; j++) f[j] += sum[j];
      own[v] = pack<T>(f);
    }
  }
#pragma unroll
  for (int v = 0; v < V; v++)
    if (piece + v * 32 + lane < vectors) store16(out + (piece + v * 32 + lane) * L, own[v]);
  // Elements behind the last vector, which the last warp that has one has in its piece, or behind it.
  if (elements % L == 0 || (blockIdx.x + 1 < gridDim.x) || threadIdx.x >= 32) return;
  const long long at = vectors * L + lane;
  float sum = 0;
  for (int k = 0; k < n; k++) {
    const long long column = at - (index[k] >= 0 && index[k] < rows ? index[k] * dim : elements + dim);
    if (at < elements && column >= 0 && column < dim) sum += to_float(src[k * dim + column]);
  }
  if (at < elements) out[at] = from_float<T>(to_float(x[at]) + sum);
}

}  // namespace

#define TOUCH(T)                                                                                                                                                                                                      \
  extern "C" __global__ void __launch_bounds__(touch_threads) scatter_touch_##T(const T* x, const int* index, const T* src, T* out, long long elements, long long rows, long long dim, int n) { \
    touch(x, index, src, out, elements, rows, dim, n);                                                                                                                                        \
  }
TOUCH(f32)
TOUCH(f16)
TOUCH(bf16)
