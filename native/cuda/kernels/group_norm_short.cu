// group_norm of many short groups that start on 16 bytes (group_norm/shape.h): lanes of a warp hold a group in registers, V vectors each, all on their way together: group_norm_short_<t>_<V>; _whole: planes are whole
// vectors too, so that one has weight and bias of one channel.
#include "common/vec.cuh"
#include "group_norm.h"

namespace {

// Of the lanes of a group, in each of them.
__device__ __forceinline__ float total_of_lanes(float v, int log2) {
#pragma unroll
  for (int k = 4; k >= 0; k--)
    if (k < log2) v += __shfl_xor_sync(0xffffffffu, v, 1 << k);
  return v;
}

template <class T, int V, bool WHOLE>
__device__ __forceinline__ void group_norm_short(const GroupNormArguments& a) {
  constexpr int L = LANES<T>;
  const int log2 = a.parts, lane = static_cast<int>(threadIdx.x) & ((1 << log2) - 1), step = L << log2;
  const long long group = thread_of_grid() >> log2, start = group * a.cols;
  // Threads beyond the groups stay for the others of their warp.
  const bool has = group < a.all;
  const T* x = reinterpret_cast<const T*>(a.x) + start;
  const auto inside = [&](int u) { return has && lane * L + u * step < a.cols; };
  uint4 kept[V];
#pragma unroll
  for (int u = 0; u < V; u++) kept[u] = inside(u) ? load16_once(x + lane * L + u * step) : uint4{0, 0, 0, 0};
  const int channel0 = static_cast<int>(static_cast<unsigned>(group) % static_cast<unsigned>(a.groups)) * a.channels;
  const T *weight = reinterpret_cast<const T*>(a.weight) + channel0, *bias = reinterpret_cast<const T*>(a.bias) + channel0;
  // Weight and bias come with the group, not after its statistics.
  float w[V], b[V];
  int left[V];  // elements of a vector's channel from it on
#pragma unroll
  for (int u = 0; u < V; u++) {
    const int i = inside(u) ? lane * L + u * step : 0, channel = static_cast<int>(__umulhi(static_cast<unsigned>(i), a.factor) >> a.shift);
    w[u] = to_float(weight[channel]), b[u] = to_float(bias[channel]);
    left[u] = (channel + 1) * a.plane - i;
  }
  float sum = 0;
#pragma unroll
  for (int u = 0; u < V; u++) {
    float f[L];
    unpack<T>(kept[u], f);
#pragma unroll
    for (int j = 1; j < L; j++) f[0] += f[j];
    sum += f[0];
  }
  keep_packed(kept);
  const float over = 1.0f / static_cast<float>(a.cols), mean = total_of_lanes(sum, log2) * over;
  float squares = 0;
#pragma unroll
  for (int u = 0; u < V; u++) {
    float f[L];
    unpack<T>(kept[u], f);
    if (inside(u)) {
#pragma unroll
      for (int j = 0; j < L; j++) squares = fmaf(f[j] - mean, f[j] - mean, squares);
    }
  }
  keep_packed(kept);
  const float rstd = 1.0f / sqrtf(total_of_lanes(squares, log2) * over + a.eps);
  T* out = reinterpret_cast<T*>(a.out) + start;
#pragma unroll
  for (int u = 0; u < V; u++) {
    if (!inside(u)) break;
    float f[L];
    unpack<T>(kept[u], f);
    const float scale = w[u] * rstd;
    if (WHOLE || left[u] >= L) {
#pragma unroll
      for (int j = 0; j < L; j++) f[j] = fmaf(f[j] - mean, scale, b[u]);
    } else {
      const int i = lane * L + u * step, next = (i + left[u]) / a.plane;
      const float next_scale = to_float(weight[next]) * rstd, next_bias = to_float(bias[next]);
#pragma unroll
      for (int j = 0; j < L; j++) f[j] = fmaf(f[j] - mean, j < left[u] ? scale : next_scale, j < left[u] ? b[u] : next_bias);
    }
    store16(out + lane * L + u * step, pack<T>(f));
  }
}

}  // namespace

#define GROUP_NORM_SHORT(T, V)                                                                                                                                             \
  extern "C" __global__ void __launch_bounds__(group_short_threads) group_norm_short_##T##_##V(const __grid_constant__ GroupNormArguments a) { group_norm_short<T, V, false>(a); } \
  extern "C" __global__ void __launch_bounds__(group_short_threads) group_norm_short_##T##_##V##_whole(const __grid_constant__ GroupNormArguments a) { group_norm_short<T, V, true>(a); }
#define EACH(T) GROUP_NORM_SHORT(T, 2) GROUP_NORM_SHORT(T, 4)
EACH(f32)
EACH(f16)
EACH(bf16)
