// layer_norm of short rows (softmax/shape.h): `1 << log2` lanes of a warp hold a row, weight and bias, all on their way together, without shared memory: layer_norm_short_<t>_<E>, E = 4 or 8 elements of
// a lane, and, for rows that start on 16 bytes, layer_norm_short_<t>_vectors, one vector. layer_norm.plan.cc launches them.
#include "common/vec.cuh"

namespace {

__device__ __forceinline__ float sum_of_row(float v, int log2) {
  for (int lanes = 1 << log2 >> 1; lanes > 0; lanes /= 2) v += __shfl_xor_sync(0xffffffffu, v, lanes);
  return v;
}

// f less its mean, and what makes its variance 1; `inside`: whether an element is one of the row, else it is 0.
template <int N, class Inside>
__device__ __forceinline__ float center(float (&f)[N], int cols, float eps, int log2, Inside inside) {
  float sum = 0, squares = 0;
#pragma unroll
  for (int j = 0; j < N; j++) sum += f[j];
  const float mean = sum_of_row(sum, log2) / static_cast<float>(cols);
#pragma unroll
  for (int j = 0; j < N; j++) {
    f[j] = inside(j) ? f[j] - mean : 0.0f;
    squares = fmaf(f[j], f[j], squares);
  }
  return rsqrtf(sum_of_row(squares, log2) / static_cast<float>(cols) + eps);
}

template <class T>
__device__ __forceinline__ void layer_norm_vectors(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias, float eps, T* __restrict__ out, long long rows, int cols, int log2) {
  constexpr int L = LANES<T>;
  const long long thread = thread_of_grid(), row = thread >> log2;
  const int i = static_cast<int>(thread & ((1 << log2) - 1)) * L;
  // Threads beyond the rows stay for the others of their warp.
  const bool has = row < rows && i < cols;
  uint4 own = {}, w = {}, b = {};
  if (has) own = load16(x + row * cols + i), w = load16(weight + i), b = load16(bias + i);
  float f[L], by[L], offset[L];
  unpack<T>(own, f);
  const float scale = center(f, cols, eps, log2, [&](int) { return has; });
  if (!has) return;
  unpack<T>(w, by);
  unpack<T>(b, offset);
#pragma unroll
  for (int j = 0; j < L; j++) f[j] = fmaf(f[j] * scale, by[j], offset[j]);
  store16(out + row * cols + i, pack<T>(f));
}

template <int E, class T>
__device__ __forceinline__ void layer_norm_elements(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias, float eps, T* __restrict__ out, long long rows, int cols, int log2) {
  const long long row = thread_of_grid() >> log2;
  const int lane = static_cast<int>(threadIdx.x) & ((1 << log2) - 1);
  const long long at = min(row, rows - 1) * cols + lane;
  const auto inside = [&](int e) { return lane + (e << log2) < cols; };
  float f[E], w[E], b[E];
#pragma unroll
  for (int e = 0; e < E; e++) {
    const int place = e << log2;
    f[e] = inside(e) ? to_float(x[at + place]) : 0.0f;
    w[e] = inside(e) ? to_float(weight[lane + place]) : 0.0f;
    b[e] = inside(e) ? to_float(bias[lane + place]) : 0.0f;
  }
  const float scale = center(f, cols, eps, log2, inside);
  if (row >= rows) return;
#pragma unroll
  for (int e = 0; e < E; e++)
    if (inside(e)) out[at + (e << log2)] = from_float<T>(fmaf(f[e] * scale, w[e], b[e]));
}

}  // namespace

#define LAYER_NORM_SHORT(T, name, ...)                                                                                                                                               \
  extern "C" __global__ void __launch_bounds__(128) layer_norm_short_##T##_##name(const T* x, const T* weight, const T* bias, float eps, T* out, long long rows, int cols, int log2) { \
    __VA_ARGS__(x, weight, bias, eps, out, rows, cols, log2);                                                                                                                        \
  }
#define EACH(T) LAYER_NORM_SHORT(T, vectors, layer_norm_vectors) LAYER_NORM_SHORT(T, 4, layer_norm_elements<4>) LAYER_NORM_SHORT(T, 8, layer_norm_elements<8>)
EACH(f32)
EACH(f16)
EACH(bf16)
