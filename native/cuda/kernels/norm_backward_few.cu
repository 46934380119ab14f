// Gradients of layer_norm and rms_norm of few elements or of rows that do not start on 16 bytes, in one launch (rows/shape.h): norm_backward_few_<layer|rms>_<t>_wide
// and .._one, by the width of an access. The first blocks have tiles of 32 columns and a share of the tokens each, and add up what weight and bias get; the block
// that comes last of a tile joins its shares. The others have rows, each in the registers of a group of threads. Both read grad and x, one of them from a cache.
#include "common/reduce.cuh"
#include "common/vec.cuh"
#include "common/norm_gradient.cuh"
#include "norm_backward.h"

namespace {

__device__ __forceinline__ float2 add(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }

// What W elements are read as.
template <int W, class T>
struct Access {
  using Word = uint4;
};
template <class T>
struct Access<1, T> {
  using Word = T;
};

// Sums over the tokens of grad * (x - mean) * rstd and of grad, of the tile's columns.
template <bool CENTERED, class T>
__device__ __forceinline__ void few_columns(const NormFewArguments& a) {
  __shared__ float own[2][8][33];
  const int lane = threadIdx.x % 32, group = threadIdx.x / 32, tile = static_cast<int>(blockIdx.x) % a.tiles, split = static_cast<int>(blockIdx.x) / a.tiles;
  const int column = tile * 32 + lane, from = split * a.rows_per_split, to = min(a.tokens, from + a.rows_per_split);
  const T *grad = reinterpret_cast<const T*>(a.grad), *x = reinterpret_cast<const T*>(a.x);
  const float *mean = reinterpret_cast<const float*>(a.mean), *rstd = reinterpret_cast<const float*>(a.rstd);
  if (a.splits > 1 && threadIdx.x == 0) fetch_ahead(reinterpret_cast<const unsigned*>(a.counters) + tile);
  constexpr int U = 8;
  float weight_sum = 0, bias_sum = 0;
  for (int t = from + group; t < to; t += 8 * U) {
    T g[U], h[U];
    float m[U], r[U];
    // One that is behind the end is read from the last, and left out.
#pragma unroll
    for (int u = 0; u < U; u++) {
      const int row = min(t + 8 * u, to - 1);
      const long long at = static_cast<long long>(row) * a.dim + min(column, a.dim - 1);
      g[u] = grad[at], h[u] = x[at], m[u] = CENTERED ? mean[row] : 0.0f, r[u] = rstd[row];
    }
#pragma unroll
    for (int u = 0; u < U; u++) {
      if (t + 8 * u >= to) break;
      weight_sum = fmaf(to_float(g[u]), (to_float(h[u]) - m[u]) * r[u], weight_sum);
      bias_sum += to_float(g[u]);
    }
  }
  own[0][group][lane] = weight_sum;
  own[1][group][lane] = bias_sum;
  __syncthreads();
  // Warp 0 has the weights, warp 1 the biases.
  const bool joins = group < (CENTERED ? 2 : 1) && column < a.dim;
  float total = 0;
  if (joins) {
#pragma unroll
    for (int k = 0; k < 8; k++) total += own[group][k][lane];
  }
  T* result = reinterpret_cast<T*>(group == 0 ? a.weight_out : a.bias_out) + column;
  if (a.splits == 1) {
    if (joins) *result = from_float<T>(total);
    return;
  }
  // [split][weight or bias][column].
  float* parts = reinterpret_cast<float*>(a.parts) + column;
  if (joins) parts[(split * 2LL + group) * a.dim] = total;
  if (!last_to_arrive(reinterpret_cast<unsigned*>(a.counters) + tile, a.splits)) return;
  // Even warps have the weights, odd ones the biases, and a quarter of the shares each.
  const int which = group % 2;
  total = 0;
  if (column < a.dim && (CENTERED || which == 0)) {
#pragma unroll 8
    for (int s = group / 2; s < a.splits; s += 4) total += __ldcg(parts + (s * 2LL + which) * a.dim);
  }
  own[which][group / 2][lane] = total;
  __syncthreads();
  if (!joins) return;
#pragma unroll
  for (int k = 1; k < 4; k++) total = (k == 1 ? own[group][0][lane] : total) + own[group][k][lane];
  *result = from_float<T>(total);
}

// dx of rows. U accesses of W elements of a row for each thread of its group: a power of two up to 32, or the block.
template <bool CENTERED, class T, int W, int U>
__device__ __forceinline__ void few_rows(const NormFewArguments& a) {
  __shared__ float2 scratch[8];
  const int thread = static_cast<int>(threadIdx.x) & (a.group - 1), step = a.group * W;
  const long long row = static_cast<long long>(blockIdx.x - a.tiles * a.splits) * (norm_few_threads / a.group) + threadIdx.x / a.group;
  // Threads beyond the rows stay for the others of their warp.
  const long long own = min(row, static_cast<long long>(a.tokens) - 1), at = own * a.dim;
  const T *grad = reinterpret_cast<const T*>(a.grad) + at, *x = reinterpret_cast<const T*>(a.x) + at, *weight = reinterpret_cast<const T*>(a.weight);
  float g[U][W], h[U][W], w[W];
  const float mean = CENTERED ? reinterpret_cast<const float*>(a.mean)[own] : 0.0f, rstd = reinterpret_cast<const float*>(a.rstd)[own];
  // All loads before the first use: one that is behind the row is read from its last.
  using Word = typename Access<W, T>::Word;
  Word kept_g[U], kept_x[U], kept_w[U];
#pragma unroll
  for (int u = 0; u < U; u++) {
    const int i = min(thread * W + u * step, a.dim - W);
    kept_g[u] = *reinterpret_cast<const Word*>(grad + i), kept_x[u] = *reinterpret_cast<const Word*>(x + i), kept_w[u] = *reinterpret_cast<const Word*>(weight + i);
  }
  float2 sums = make_float2(0.0f, 0.0f);
#pragma unroll
  for (int u = 0; u < U; u++) {
    const bool has = thread * W + u * step < a.dim;
    if constexpr (W == 1) g[u][0] = to_float(kept_g[u]), h[u][0] = to_float(kept_x[u]), w[0] = to_float(kept_w[u]);
    else unpack<T>(kept_g[u], g[u]), unpack<T>(kept_x[u], h[u]), unpack<T>(kept_w[u], w);
#pragma unroll
    for (int j = 0; j < W; j++) {
      g[u][j] = __fmul_rn(g[u][j], w[j]), h[u][j] = (h[u][j] - mean) * rstd;
      if (CENTERED) sums.x += has ? g[u][j] : 0.0f;
      sums.y = has ? fmaf(g[u][j], h[u][j], sums.y) : sums.y;
    }
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2)
    if (offset < a.group) sums = add(sums, make_float2(CENTERED ? __shfl_xor_sync(0xffffffffu, sums.x, offset) : 0.0f, __shfl_xor_sync(0xffffffffu, sums.y, offset)));
  if (a.group > 32) {
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = sums;
    __syncthreads();
    const int first = static_cast<int>(threadIdx.x) / a.group * (a.group / 32);
    sums = scratch[first];
    for (int k = 1; k < a.group / 32; k++) sums = add(sums, scratch[first + k]);
  }
  if (row >= a.tokens) return;
  const float share = 1.0f / static_cast<float>(a.dim);
  const float2 of = make_float2(-sums.x * share, -sums.y * share);
  T* out = reinterpret_cast<T*>(a.out) + at;
#pragma unroll
  for (int u = 0; u < U; u++) {
    const int i = thread * W + u * step;
    if (i >= a.dim) break;
    float f[W];
#pragma unroll
    for (int j = 0; j < W; j++) f[j] = norm_gradient(g[u][j], h[u][j], of, rstd);
    if constexpr (W == 1) out[i] = from_float<T>(f[0]);
    else store16(out + i, pack<T>(f));
  }
}

template <bool CENTERED, class T, int W>
__device__ __forceinline__ void norm_backward_few(const NormFewArguments& a) {
  if (static_cast<int>(blockIdx.x) < a.tiles * a.splits) few_columns<CENTERED, T>(a);
  else few_rows<CENTERED, T, W, norm_few_elements / W>(a);
}

}  // namespace

#define FEW(T, name, CENTERED)                                                                                                                                       \
  extern "C" __global__ void __launch_bounds__(norm_few_threads) norm_backward_few_##name##_##T##_wide(const NormFewArguments a) { norm_backward_few<CENTERED, T, LANES<T>>(a); } \
  extern "C" __global__ void __launch_bounds__(norm_few_threads) norm_backward_few_##name##_##T##_one(const NormFewArguments a) { norm_backward_few<CENTERED, T, 1>(a); }
#define FEWS(T) FEW(T, layer, true) FEW(T, rms, false)
FEWS(f32)
FEWS(f16)
FEWS(bf16)
