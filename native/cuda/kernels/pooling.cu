// Largest element or mean of windows of planes. pool_<max|avg>_<t>: one thread per output; _warp: one warp, for large windows.
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
  const auto join = [&](float v) { total = MAX ? (v > total || v != v ? v : total) : total + v; };
  if (WARP) {
    const long long wide = across.end - across.first, count = (down.end - down.first) * wide;
    for (long long k = lane; k < count; k += 32) join(to_float(from[(down.first + k / wide) * s.width + across.first + k % wide]));
    total = MAX ? warp_reduce(total, MaxOp()) : warp_reduce(total, AddOp());
    if (lane != 0) return;
  } else {
    for (long long r = down.first; r < down.end; r++)
      for (long long c = across.first; c < across.end; c++) join(to_float(from[r * s.width + c]));
  }
  out[i] = from_float<T>(MAX ? total : total / static_cast<float>(down.counted * across.counted));
}

}  // namespace

#define POOL(T, kind, MAX)                                                                                                                               \
  extern "C" __global__ void __launch_bounds__(256) pool_##kind##_##T(const T* x, T* out, const PoolSizes s) { pool<MAX, false>(x, out, s); }             \
  extern "C" __global__ void __launch_bounds__(256) pool_##kind##_##T##_warp(const T* x, T* out, const PoolSizes s) { pool<MAX, true>(x, out, s); }
POOL(f32, max, true)
POOL(f16, max, true)
POOL(bf16, max, true)
POOL(f32, avg, false)
POOL(f16, avg, false)
POOL(bf16, avg, false)
