// Gradients of layer_norm and rms_norm of many short rows (rows/shape.h), whatever their alignment: norm_backward_short_<layer|rms>_<t>. A tile is a power of two of rows, one piece of memory, in shared
// memory. Some lanes of a warp add a row up; then each thread has a column of some rows, so that its sums for weight and bias stay in two registers. The next tile is on its way meanwhile. Each tensor is read once, and
// norm_columns_join (row_sums.cu) joins the sums of all blocks, in a fixed order, so results repeat bit for bit.
#include "norm_backward_short.h"
#include "common/early.cuh"
#include "common/fetch.cuh"
#include "common/norm_gradient.cuh"

namespace {

// parts: [gridDim.x][2][dim]. Shared memory: for each of two tiles grad and x as they lie in memory, mean and rstd of its rows; then two terms of each row, and the weights.
template <bool CENTERED, class T>
__device__ __forceinline__ void norm_backward_short(const NormShortArguments& a) {
  constexpr int L = LANES<T>;
  extern __shared__ uint4 shared[];
  const int t = threadIdx.x, threads = blockDim.x, dim = a.dim, rows = a.rows, tile = rows * dim / L, stats = rows / 4, stage_vectors = 2 * (tile + stats);
  const T *grad = reinterpret_cast<const T*>(a.grad), *x = reinterpret_cast<const T*>(a.x), *weight = reinterpret_cast<const T*>(a.weight);
  const float *mean = reinterpret_cast<const float*>(a.mean), *rstd = reinterpret_cast<const float*>(a.rstd);
  T* out = reinterpret_cast<T*>(a.out);
  float2* terms = reinterpret_cast<float2*>(shared + 2 * stage_vectors);
  float* w = reinterpret_cast<float*>(terms + rows);
  const auto count_of = [&](long long first) { return static_cast<int>(min(static_cast<long long>(rows), a.tokens - first)); };
  const auto fetch = [&](long long first, int stage) {
    if (first < a.tokens) {
      uint4* to = shared + stage * stage_vectors;
      const int count = count_of(first), vectors = (count * dim + L - 1) / L, quads = (count + 3) / 4;
      for (int v = t; v < vectors; v += threads) {
        fetch16(to + v, grad + first * dim + v * L);
        fetch16(to + tile + v, x + first * dim + v * L);
      }
      for (int v = t; v < quads; v += threads) {
        if (CENTERED) fetch16(to + 2 * tile + v, mean + first + v * 4);
        fetch16(to + 2 * tile + stats + v, rstd + first + v * 4);
      }
    }
    fetch_end();
  };
  const long long step = static_cast<long long>(gridDim.x) * rows;
  long long first = static_cast<long long>(blockIdx.x) * rows;
  fetch(first, 0);
  for (int c = t; c < dim; c += threads) w[c] = to_float(weight[c]);
  const int lanes = a.lanes, lane = t % lanes, groups = threads / dim, group = t / dim, column = t - group * dim;
  const float share = 1.0f / static_cast<float>(dim), own_weight = to_float(weight[column]);
  float weight_sum = 0, bias_sum = 0;
  for (int stage = 0; first < a.tokens; first += step, stage ^= 1) {
    fetch_wait<0>();
    // The tile is there for all threads, and all have stored what lay in the other.
    __syncthreads();
    fetch(first + step, stage ^ 1);
    uint4* const vectors = shared + stage * stage_vectors;
    T *const g = reinterpret_cast<T*>(vectors), *const h = reinterpret_cast<T*>(vectors + tile);
    const float *const means = reinterpret_cast<const float*>(vectors + 2 * tile), *const scales = means + rows;
    const int count = count_of(first);
    for (int r = t / lanes; r - t / lanes < count; r += threads / lanes) {
      float2 sums = make_float2(0.0f, 0.0f);
      const float m = CENTERED ? means[min(r, count - 1)] : 0.0f, scale = scales[min(r, count - 1)];
      if (r < count) {
#pragma unroll 4
        for (int c = lane; c < dim; c += lanes) {
          const float own = __fmul_rn(to_float(g[r * dim + c]), w[c]);
          if (CENTERED) sums.x += own;
          sums.y = fmaf(own, (to_float(h[r * dim + c]) - m) * scale, sums.y);
        }
      }
      for (int offset = lanes / 2; offset > 0; offset /= 2) {
        if (CENTERED) sums.x += __shfl_xor_sync(0xffffffffu, sums.x, offset);
        sums.y += __shfl_xor_sync(0xffffffffu, sums.y, offset);
      }
      if (lane == 0 && r < count) terms[r] = make_float2(-sums.x * share, -sums.y * share);
    }
    __syncthreads();
    if (group < groups) {
#pragma unroll 4
      for (int r = group; r < count; r += groups) {
        const float own_g = to_float(g[r * dim + column]), scale = scales[r], own_h = (to_float(h[r * dim + column]) - (CENTERED ? means[r] : 0.0f)) * scale;
        const float2 of = terms[r];
        weight_sum = fmaf(own_g, own_h, weight_sum);
        if (CENTERED) bias_sum += own_g;
        g[r * dim + column] = from_float<T>(norm_gradient(__fmul_rn(own_g, own_weight), own_h, of, scale));
      }
    }
    __syncthreads();
    const int whole = count * dim / L;
    for (int v = t; v < whole; v += threads) store16(out + first * dim + v * L, vectors[v]);
    for (int e = whole * L + t; e < count * dim; e += threads) out[first * dim + e] = g[e];
  }
  next_may_start();
  // The columns of all groups of threads.
  float* all = reinterpret_cast<float*>(shared);
  __syncthreads();
  if (group < groups) all[t] = weight_sum, all[threads + t] = bias_sum;
  __syncthreads();
  float* parts = reinterpret_cast<float*>(a.parts) + blockIdx.x * 2LL * dim;
  for (int i = t; i < (CENTERED ? 2 : 1) * dim; i += threads) {
    const float* own = all + (i < dim ? i : threads + i - dim);
    float sum = own[0];
    for (int k = 1; k < groups; k++) sum += own[k * dim];
    parts[i] = sum;
  }
}

}  // namespace

// Registers for three blocks of 512 threads on a multiprocessor: norm_short_shape says the same.
#define NORM_SHORT(T)                                                                                                                                                                 \
  extern "C" __global__ void __launch_bounds__(norm_short_threads, 3) norm_backward_short_layer_##T(const NormShortArguments a) { norm_backward_short<true, T>(a); } \
  extern "C" __global__ void __launch_bounds__(norm_short_threads, 3) norm_backward_short_rms_##T(const NormShortArguments a) { norm_backward_short<false, T>(a); }
NORM_SHORT(f32)
NORM_SHORT(f16)
NORM_SHORT(bf16)
