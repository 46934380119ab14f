// Largest element or mean of windows of planes. pool_<max|avg>_<t>: one thread per output; _warp: one warp, for large windows; _four: a thread for four
// outputs behind each other of windows that are not adaptive, on planes of less than 2^31 elements.
#include "pooling.h"
#include "common/reduce.cuh"
#include "common/vec.cuh"

namespace {

struct Span {
  long long first, end, counted;
};

// Window of output `o` along an axis; kernel 0: adaptive.
__device__ __forceinline__ Span span_of(long long o, long long input, long long output, long long kernel, long long stride, long long padding) {
  if (kernel == 0) {
    const long long first = o * input / output, end = ((o + 1) * input + output - 1) / output;
    return {first, end, end - first};
  }
  const long long at = o * stride - padding;
  return {max(at, 0LL), min(at + kernel, input), kernel};
}

template <bool MAX, bool WARP, class T>
__device__ __forceinline__ void pool(const T* __restrict__ x, T* __restrict__ out, const PoolSizes& s) {
  constexpr int group = WARP ? 32 : 1;
  const long long i = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / group;
  if (i >= s.outputs) return;
  const int lane = WARP ? threadIdx.x % 32 : 0;
  // 64-bit division takes several times as long.
  const bool small = (s.outputs >> 32) == 0;
  const long long row = small ? static_cast<unsigned>(i) / static_cast<unsigned>(s.out_width) : i / s.out_width, plane = small ? static_cast<unsigned>(row) / static_cast<unsigned>(s.out_height) : row / s.out_height;
  const Span down = span_of(row - plane * s.out_height, s.height, s.out_height, s.kernel_down, s.stride_down, s.padding_down);
  const Span across = span_of(i - row * s.out_width, s.width, s.out_width, s.kernel, s.stride, s.padding);
  const T* from = x + plane * s.height * s.width;
  float total = MAX ? -INFINITY : 0.0f;
  // Keeps NaN, which fmaxf() drops.
  const auto of_two = [](float a, float b) { return MAX ? (b > a || b != b ? b : a) : a + b; };
  const auto join = [&](float v) { total = of_two(total, v); };
  if (WARP) {
    const long long wide = across.end - across.first, count = (down.end - down.first) * wide;
    for (long long k = lane; k < count; k += 32) join(to_float(from[(down.first + k / wide) * s.width + across.first + k % wide]));
    total = warp_reduce(total, of_two);
    if (lane != 0) return;
  } else {
    for (long long r = down.first; r < down.end; r++)
      for (long long c = across.first; c < across.end; c++) join(to_float(from[r * s.width + c]));
  }
  out[i] = from_float<T>(MAX ? total : total / static_cast<float>(down.counted * across.counted));
}

template <bool MAX, class T>
__device__ __forceinline__ void pool_four(const T* __restrict__ x, T* __restrict__ out, const PoolSizes& s) {
  constexpr int V = 4;
  const long long i = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * V;
  if (i >= s.outputs) return;
  const bool small = (s.outputs >> 32) == 0;
  const long long row = small ? static_cast<unsigned>(i) / static_cast<unsigned>(s.out_width) : i / s.out_width;
  long long plane = small ? static_cast<unsigned>(row) / static_cast<unsigned>(s.out_height) : row / s.out_height;
  const int height = static_cast<int>(s.height), width = static_cast<int>(s.width), down = max(1, static_cast<int>(s.kernel_down)), across = static_cast<int>(s.kernel);
  int oh = static_cast<int>(row - plane * s.out_height), ow = static_cast<int>(i - row * s.out_width), top[V], left[V];
  const T* from[V];
  float total[V];
#pragma unroll
  for (int u = 0; u < V; u++) {
    top[u] = oh * static_cast<int>(s.stride_down) - static_cast<int>(s.padding_down), left[u] = ow * static_cast<int>(s.stride) - static_cast<int>(s.padding);
    // Past the end: the window before, which is not written.
    if (i + u >= s.outputs) top[u] = top[0], left[u] = left[0];
    from[u] = i + u < s.outputs ? x + plane * height * width : from[0];
    total[u] = MAX ? -INFINITY : 0.0f;
    if (++ow == s.out_width) {
      ow = 0;
      if (++oh == s.out_height) oh = 0, plane++;
    }
  }
  for (int r = 0; r < down; r++)
    for (int c = 0; c < across; c++) {
      float v[V];
#pragma unroll
      for (int u = 0; u < V; u++) {
        const int at = top[u] + r, to = left[u] + c;
        const bool inside = static_cast<unsigned>(at) < static_cast<unsigned>(height) && static_cast<unsigned>(to) < static_cast<unsigned>(width);
        v[u] = inside ? to_float(from[u][at * width + to]) : MAX ? -INFINITY : 0.0f;
      }
#pragma unroll
      for (int u = 0; u < V; u++) total[u] = MAX ? (v[u] > total[u] || v[u] != v[u] ? v[u] : total[u]) : total[u] + v[u];
    }
  const float counted = static_cast<float>(down * across);
#pragma unroll
  for (int u = 0; u < V; u++) total[u] = MAX ? total[u] : total[u] / counted;
  if (i + V <= s.outputs) {
    if constexpr (sizeof(T) == 4) store16(out + i, pack<T>(total));
    else *reinterpret_cast<uint2*>(out + i) = make_uint2(pack_pair(total[0], total[1], T()), pack_pair(total[2], total[3], T()));
    return;
  }
#pragma unroll
  for (int u = 0; u < V; u++)
    if (i + u < s.outputs) out[i + u] = from_float<T>(total[u]);
}

}  // namespace

#define POOL(T, kind, MAX)                                                                                                                               \
  extern "C" __global__ void __launch_bounds__(256) pool_##kind##_##T(const T* x, T* out, const PoolSizes s) { pool<MAX, false>(x, out, s); }             \
  extern "C" __global__ void __launch_bounds__(256) pool_##kind##_##T##_warp(const T* x, T* out, const PoolSizes s) { pool<MAX, true>(x, out, s); }         \
  extern "C" __global__ void __launch_bounds__(256) pool_##kind##_##T##_four(const T* x, T* out, const PoolSizes s) { pool_four<MAX>(x, out, s); }
POOL(f32, max, true)
POOL(f16, max, true)
POOL(bf16, max, true)
POOL(f32, avg, false)
POOL(f16, avg, false)
POOL(bf16, avg, false)
