// layer_norm of short rows (softmax/shape.h): `1 << LOG2` lanes of a warp hold a row, weight and bias, all on their way together, without shared memory: layer_norm_short_<t>_<E>_<LOG2>, E = 4 or 8 elements of
// a lane, and, for rows that start on 16 bytes, layer_norm_short_<t>_vectors_1_<LOG2>, one vector. layer_norm.plan.cc launches them. rms_norm_short_<t>_<E>_<LOG2>: the same of rms_norm, which has neither mean nor bias.
#include "common/start_early.cuh"
#include "common/vec.cuh"

namespace {

template <int LOG2>
__device__ __forceinline__ float sum_of_row(float v) {
#pragma unroll
  for (int k = LOG2 - 1; k >= 0; k--) v += __shfl_xor_sync(0xffffffffu, v, 1 << k);
  return v;
}

// f less its mean, where it is CENTERED, and what makes its variance 1; `inside`: whether an element is one of the row, else it is 0.
template <bool CENTERED, int LOG2, int N, class Inside>
__device__ __forceinline__ float center(float (&f)[N], int cols, float eps, Inside inside) {
  float squares = 0;
  if constexpr (CENTERED) {
    float sum = 0;
#pragma unroll
    for (int j = 0; j < N; j++) sum += f[j];
    const float mean = sum_of_row<LOG2>(sum) / static_cast<float>(cols);
#pragma unroll
    for (int j = 0; j < N; j++) f[j] = inside(j) ? f[j] - mean : 0.0f;
  }
#pragma unroll
  for (int j = 0; j < N; j++) squares = fmaf(f[j], f[j], squares);
  return rsqrtf(sum_of_row<LOG2>(squares) / static_cast<float>(cols) + eps);
}

template <int LOG2, class T>
__device__ __forceinline__ void layer_norm_vectors(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias, float eps, T* __restrict__ out, long long rows, int cols) {
  constexpr int L = LANES<T>;
  const long long thread = thread_of_grid(), row = thread >> LOG2;
  const int i = static_cast<int>(thread & ((1 << LOG2) - 1)) * L;
  // Threads beyond the rows stay for the others of their warp.
  const bool has = row < rows && i < cols;
  uint4 own = {}, w = {}, b = {};
  if (has) own = load16(x + row * cols + i), w = load16(weight + i), b = load16(bias + i);
  float f[L], by[L], offset[L];
  unpack<T>(own, f);
  const float scale = center<true, LOG2>(f, cols, eps, [&](int) { return has; });
  if (!has) return;
  unpack<T>(w, by);
  unpack<T>(b, offset);
#pragma unroll
  for (int j = 0; j < L; j++) f[j] = fmaf(f[j] * scale, by[j], offset[j]);
  store16(out + row * cols + i, pack<T>(f));
}

template <bool CENTERED, int E, int LOG2, class T>
__device__ __forceinline__ void norm_elements(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias, float eps, T* __restrict__ out, long long rows, int cols) {
  const long long row = thread_of_grid() >> LOG2;
  const int lane = static_cast<int>(threadIdx.x) & ((1 << LOG2) - 1);
  const long long at = min(row, rows - 1) * cols + lane;
  const auto inside = [&](int e) { return lane + (e << LOG2) < cols; };
  float f[E], w[E], b[E];
#pragma unroll
  for (int e = 0; e < E; e++) {
    const int place = e << LOG2;
    f[e] = inside(e) ? to_float(x[at + place]) : 0.0f;
    w[e] = inside(e) ? to_float(weight[lane + place]) : 0.0f;
    b[e] = CENTERED && inside(e) ? to_float(bias[lane + place]) : 0.0f;
  }
  const float scale = center<CENTERED, LOG2>(f, cols, eps, inside);
  if (row >= rows) return;
#pragma unroll
  for (int e = 0; e < E; e++)
    if (inside(e)) out[at + (e << LOG2)] = from_float<T>(CENTERED ? fmaf(f[e] * scale, w[e], b[e]) : f[e] * scale * w[e]);
}

}  // namespace

#define LAYER_NORM_SHORT(T, name, ...)                                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(128) layer_norm_short_##T##_##name(const T* x, const T* weight, const T* bias, float eps, T* out, long long rows, int cols, int early) { \
    if (early) start_early();                                                                                                                                                         \
    __VA_ARGS__(x, weight, bias, eps, out, rows, cols);                                                                                                                    \
  }
#define VECTORS(T, LOG2) LAYER_NORM_SHORT(T, vectors_1_##LOG2, layer_norm_vectors<LOG2>)
#define ELEMENTS(T, E, LOG2) LAYER_NORM_SHORT(T, E##_##LOG2, norm_elements<true, E, LOG2>)
#define RMS(T, E, LOG2)                                                                                                                                           \
  extern "C" __global__ void __launch_bounds__(128) rms_norm_short_##T##_##E##_##LOG2(const T* x, const T* weight, float eps, T* out, long long rows, int cols) { \
    norm_elements<false, E, LOG2>(x, weight, static_cast<const T*>(nullptr), eps, out, rows, cols);                                                               \
  }
// Every pair of what a lane has and how many lanes, as short_shape gives them.
#define EACH(T)                                                                                     \
  VECTORS(T, 0) VECTORS(T, 1) VECTORS(T, 2) VECTORS(T, 3) VECTORS(T, 4) VECTORS(T, 5)               \
  ELEMENTS(T, 4, 0) ELEMENTS(T, 4, 1) ELEMENTS(T, 4, 2) ELEMENTS(T, 4, 3) ELEMENTS(T, 8, 3) ELEMENTS(T, 8, 4) ELEMENTS(T, 8, 5) \
  RMS(T, 4, 0) RMS(T, 4, 1) RMS(T, 4, 2) RMS(T, 4, 3) RMS(T, 8, 3)
EACH(f32)
EACH(f16)
EACH(bf16)
