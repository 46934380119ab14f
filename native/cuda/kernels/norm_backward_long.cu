// Gradients of layer_norm and rms_norm of few long rows (rows/norm_long.h): norm_backward_long_<layer|rms>_<t>_sums takes the sums of the rows, a block for each chunk of each, and
// norm_backward_long_<layer|rms>_<t>, by columns, all gradients. Single elements: rows start anywhere, and few of them are no work beside two launches.
#include "common/early.cuh"
#include "common/reduce.cuh"
#include "common/vec.cuh"
#include "rows/norm_long.h"

namespace {

using opscope::cuda::norm_long_threads;
using opscope::cuda::norm_long_tokens;
using opscope::cuda::NormLongArguments;

template <bool CENTERED, class T>
struct Rows {
  const T *grad, *x, *weight;
  const float *mean, *rstd;
  __device__ __forceinline__ explicit Rows(const NormLongArguments& a)
      : grad(reinterpret_cast<const T*>(a.grad)), x(reinterpret_cast<const T*>(a.x)), weight(reinterpret_cast<const T*>(a.weight)), mean(reinterpret_cast<const float*>(a.mean)), rstd(reinterpret_cast<const float*>(a.rstd)) {}
  __device__ __forceinline__ float mean_of(int row) const { return CENTERED ? mean[row] : 0.0f; }
};

// grid: (chunks, tokens).
template <bool CENTERED, class T>
__device__ __forceinline__ void sums_of_rows(const NormLongArguments& a) {
  constexpr int U = 4;
  __shared__ float2 scratch[norm_long_threads / 32];
  const Rows<CENTERED, T> rows(a);
  const int token = static_cast<int>(blockIdx.y), thread = static_cast<int>(threadIdx.x);
  const long long from = blockIdx.x * a.chunk, row = token * a.dim;
  const int n = static_cast<int>(min(a.chunk, a.dim - from));
  const float mean = rows.mean_of(token), scale = rows.rstd[token];
  float2 sums = make_float2(0.0f, 0.0f);
  for (int i = thread; i < n; i += U * norm_long_threads) {
    T g[U], x[U], w[U];
#pragma unroll
    for (int u = 0; u < U; u++) {
      // One behind the end is read from the last, and counts as 0.
      const long long column = from + min(i + u * norm_long_threads, n - 1);
      g[u] = rows.grad[row + column], x[u] = rows.x[row + column], w[u] = rows.weight[column];
    }
#pragma unroll
    for (int u = 0; u < U; u++) {
      const float own = i + u * norm_long_threads < n ? to_float(g[u]) * to_float(w[u]) : 0.0f;
      sums.x += own;
      sums.y = i + u * norm_long_threads < n ? fmaf(own, (to_float(x[u]) - mean) * scale, sums.y) : sums.y;
    }
  }
  sums = sum_of_warp(sums);
  if (thread % 32 == 0) scratch[thread / 32] = sums;
  __syncthreads();
  if (thread == 0) {
#pragma unroll
    for (int k = 1; k < norm_long_threads / 32; k++) sums.x += scratch[k].x, sums.y += scratch[k].y;
    reinterpret_cast<float2*>(a.parts)[token * a.chunks + blockIdx.x] = sums;
  }
  next_may_start();
}

template <bool CENTERED, class T>
__device__ __forceinline__ void gradients(const NormLongArguments& a) {
  constexpr int U = 8;
  __shared__ float2 of_token[norm_long_tokens], joined[norm_long_threads];
  const Rows<CENTERED, T> rows(a);
  const int thread = static_cast<int>(threadIdx.x), across = thread % a.columns, group = thread / a.columns, groups = norm_long_threads / a.columns;
  wait_for_last();
  for (int token = thread / 32; token < a.tokens; token += norm_long_threads / 32) {
    float2 sums = make_float2(0.0f, 0.0f);
#pragma unroll 4
    for (int i = thread % 32; i < a.chunks; i += 32) {
      const float2 part = __ldcg(reinterpret_cast<const float2*>(a.parts) + token * a.chunks + i);
      sums.x += part.x, sums.y += part.y;
    }
    sums = sum_of_warp(sums);
    const float share = -1.0f / static_cast<float>(a.dim);
    if (thread % 32 == 0) of_token[token] = make_float2(CENTERED ? sums.x * share : 0.0f, sums.y * share);
  }
  __syncthreads();
  for (long long base = blockIdx.x * static_cast<long long>(a.columns); base < a.dim; base += gridDim.x * static_cast<long long>(a.columns)) {
    // A thread behind the end has the last column, and writes nothing.
    const bool inside = base + across < a.dim;
    const long long column = inside ? base + across : a.dim - 1;
    const float w = to_float(rows.weight[column]);
    float2 own = make_float2(0.0f, 0.0f);
    for (int first = group; first < a.tokens; first += U * groups) {
      T g[U], x[U];
      float mean[U], scale[U];
#pragma unroll
      for (int u = 0; u < U; u++) {
        const int token = min(first + u * groups, a.tokens - 1);
        g[u] = rows.grad[token * a.dim + column], x[u] = rows.x[token * a.dim + column], mean[u] = rows.mean_of(token), scale[u] = rows.rstd[token];
      }
#pragma unroll
      for (int u = 0; u < U; u++) {
        const int token = first + u * groups;
        if (token >= a.tokens) break;
        const float grad = to_float(g[u]), normal = (to_float(x[u]) - mean[u]) * scale[u];
        own.x = fmaf(grad, normal, own.x), own.y += grad;
        if (inside) reinterpret_cast<T*>(a.out)[token * a.dim + column] = from_float<T>(scale[u] * (fmaf(grad, w, of_token[token].x) + normal * of_token[token].y));
      }
    }
    if (groups > 1) {
      joined[thread] = own;
      __syncthreads();
      for (int k = 1; group == 0 && k < groups; k++) own.x += joined[k * a.columns + across].x, own.y += joined[k * a.columns + across].y;
      __syncthreads();
    }
    if (group == 0 && inside) {
      reinterpret_cast<T*>(a.weight_out)[column] = from_float<T>(own.x);
      if (CENTERED) reinterpret_cast<T*>(a.bias_out)[column] = from_float<T>(own.y);
    }
  }
}

}  // namespace

#define LONG_OF(T, name, CENTERED)                                                                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(norm_long_threads) norm_backward_long_##name##_##T##_sums(const __grid_constant__ NormLongArguments a) { sums_of_rows<CENTERED, T>(a); } \
  extern "C" __global__ void __launch_bounds__(norm_long_threads) norm_backward_long_##name##_##T(const __grid_constant__ NormLongArguments a) { gradients<CENTERED, T>(a); }
#define EACH(T) LONG_OF(T, layer, true) LONG_OF(T, rms, false)
EACH(f32)
EACH(f16)
EACH(bf16)
