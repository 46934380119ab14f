// softmax and log_softmax of short rows (softmax/shape.h): <op>_short_<t>_<E>_<LOG2>, E = 4 or 8, and, for rows that start on 16 bytes, <op>_short_<t>_vectors_<V>_<LOG2>, V = 1, 2 or 4;
// softmax_backward_short_<t>_<E>_<LOG2>. `1 << LOG2` lanes of a warp hold a row, E elements or V vectors each; nothing is shared between warps, and the code is short, as a call that finds its data in no
// cache finds its code in none either.
#include "common/arithmetic.cuh"
#include "common/vec.cuh"

namespace {

constexpr float log2e = 1.4426950408889634f;

// Over the lanes of a row; every one of them gets the result.
template <int LOG2, class Op>
__device__ __forceinline__ float join_lanes(float v, Op op) {
#pragma unroll
  for (int k = LOG2 - 1; k >= 0; k--) v = op(v, __shfl_xor_sync(0xffffffffu, v, 1 << k));
  return v;
}

// The softmax of the row that `v` is a part of, elements outside it being -infinity. LOG: its logarithm.
template <bool LOG, int LOG2, int N>
__device__ __forceinline__ void softmax_of(float (&v)[N]) {
  float max = v[0];
#pragma unroll
  for (int j = 1; j < N; j++) max = fmaxf(max, v[j]);
  max = join_lanes<LOG2>(max, [](float a, float b) { return fmaxf(a, b); });
  const float shift = max * log2e;
  float sum = 0;
#pragma unroll
  for (int j = 0; j < N; j++) {
    const float e = exp2_fast(fmaf(v[j], log2e, -shift));
    sum += e;
    if (!LOG) v[j] = e;
  }
  sum = join_lanes<LOG2>(sum, [](float a, float b) { return a + b; });
  const float scale = LOG ? logf(sum) : 1.0f / sum;
#pragma unroll
  for (int j = 0; j < N; j++) v[j] = LOG ? v[j] - max - scale : v[j] * scale;
}

template <bool LOG, class T, int E, int LOG2>
__device__ __forceinline__ void softmax_elements(const T* __restrict__ x, T* __restrict__ out, long long rows, int cols) {
  const long long row = thread_of_grid() >> LOG2;
  const int lane = static_cast<int>(threadIdx.x) & ((1 << LOG2) - 1);
  // Threads beyond the rows stay for the others of their warp.
  const long long at = min(row, rows - 1) * cols + lane;
  float v[E];
#pragma unroll
  for (int e = 0; e < E; e++) v[e] = lane + (e << LOG2) < cols ? to_float(x[at + (e << LOG2)]) : -INFINITY;
  softmax_of<LOG, LOG2>(v);
  if (row >= rows) return;
#pragma unroll
  for (int e = 0; e < E; e++)
    if (lane + (e << LOG2) < cols) out[at + (e << LOG2)] = from_float<T>(v[e]);
}

template <bool LOG, class T, int V, int LOG2>
__device__ __forceinline__ void softmax_vectors(const T* __restrict__ x, T* __restrict__ out, long long rows, int cols) {
  constexpr int L = LANES<T>;
  const long long row = thread_of_grid() >> LOG2;
  const int lane = static_cast<int>(threadIdx.x) & ((1 << LOG2) - 1);
  const long long at = min(row, rows - 1) * cols + lane * L;
  float v[V * L];
  uint4 kept[V];
#pragma unroll
  for (int u = 0; u < V; u++)
    kept[u] = (lane + (u << LOG2)) * L < cols ? load16(x + at + (u << LOG2) * L) : uint4{0, 0, 0, 0};
#pragma unroll
  for (int u = 0; u < V; u++) {
    float f[L];
    unpack<T>(kept[u], f);
#pragma unroll
    for (int j = 0; j < L; j++) v[u * L + j] = (lane + (u << LOG2)) * L < cols ? f[j] : -INFINITY;
  }
  softmax_of<LOG, LOG2>(v);
  if (row >= rows) return;
#pragma unroll
  for (int u = 0; u < V; u++) {
    float f[L];
#pragma unroll
    for (int j = 0; j < L; j++) f[j] = v[u * L + j];
    if ((lane + (u << LOG2)) * L < cols) store16(out + at + (u << LOG2) * L, pack<T>(f));
  }
}

// The gradient: y (grad - the sum of y grad).
template <class T, int E, int LOG2>
__device__ __forceinline__ void softmax_backward(const T* __restrict__ grad, const T* __restrict__ y, T* __restrict__ out, long long rows, int cols) {
  const long long row = thread_of_grid() >> LOG2;
  const int lane = static_cast<int>(threadIdx.x) & ((1 << LOG2) - 1);
  const long long at = min(row, rows - 1) * cols + lane;
  float g[E], v[E], sum = 0;
#pragma unroll
  for (int e = 0; e < E; e++) {
    const bool inside = lane + (e << LOG2) < cols;
    g[e] = inside ? to_float(grad[at + (e << LOG2)]) : 0.0f, v[e] = inside ? to_float(y[at + (e << LOG2)]) : 0.0f;
  }
#pragma unroll
  for (int e = 0; e < E; e++) sum = fmaf(g[e], v[e], sum);
  sum = join_lanes<LOG2>(sum, [](float a, float b) { return a + b; });
  if (row >= rows) return;
#pragma unroll
  for (int e = 0; e < E; e++)
    if (lane + (e << LOG2) < cols) out[at + (e << LOG2)] = from_float<T>(v[e] * (g[e] - sum));
}

}  // namespace

#define SHORT_BACKWARD(T, E, LOG2)                                                                                                                           \
  extern "C" __global__ void __launch_bounds__(256) softmax_backward_short_##T##_##E##_##LOG2(const T* grad, const T* y, T* out, long long rows, int cols) { \
    softmax_backward<T, E, LOG2>(grad, y, out, rows, cols);                                                                                                  \
  }
#define SHORT_ELEMENTS(op, LOG, T, E, LOG2)                                                                                            \
  extern "C" __global__ void __launch_bounds__(256) op##_short_##T##_##E##_##LOG2(const T* x, T* out, long long rows, int cols) {      \
    softmax_elements<LOG, T, E, LOG2>(x, out, rows, cols);                                                                             \
  }
#define SHORT_VECTORS(op, LOG, T, V, LOG2)                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) op##_short_##T##_vectors_##V##_##LOG2(const T* x, T* out, long long rows, int cols) {     \
    softmax_vectors<LOG, T, V, LOG2>(x, out, rows, cols);                                                                                     \
  }
// Every pair of what a lane has and how many lanes, as short_shape gives them.
#define SHORT_OF(op, LOG, T)                                                                                                                                                          \
  SHORT_ELEMENTS(op, LOG, T, 4, 0) SHORT_ELEMENTS(op, LOG, T, 4, 1) SHORT_ELEMENTS(op, LOG, T, 4, 2) SHORT_ELEMENTS(op, LOG, T, 4, 3)                                                  \
  SHORT_ELEMENTS(op, LOG, T, 8, 3) SHORT_ELEMENTS(op, LOG, T, 8, 4) SHORT_ELEMENTS(op, LOG, T, 8, 5)                                                                                  \
  SHORT_VECTORS(op, LOG, T, 1, 0) SHORT_VECTORS(op, LOG, T, 1, 1) SHORT_VECTORS(op, LOG, T, 1, 2) SHORT_VECTORS(op, LOG, T, 1, 3) SHORT_VECTORS(op, LOG, T, 1, 4)                      \
  SHORT_VECTORS(op, LOG, T, 1, 5) SHORT_VECTORS(op, LOG, T, 2, 5) SHORT_VECTORS(op, LOG, T, 4, 5)
#define SHORT(T)                                                                                                                                                                      \
  SHORT_OF(softmax, false, T) SHORT_OF(log_softmax, true, T) SHORT_BACKWARD(T, 4, 0) SHORT_BACKWARD(T, 4, 1) SHORT_BACKWARD(T, 4, 2) SHORT_BACKWARD(T, 4, 3) SHORT_BACKWARD(T, 8, 3) \
  SHORT_BACKWARD(T, 8, 4) SHORT_BACKWARD(T, 8, 5)
SHORT(f32)
SHORT(f16)
SHORT(bf16)
