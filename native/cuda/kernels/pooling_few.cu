// Poolings of few outputs (pooling/few.h), where a call takes as long as it waits for memory and for its own instructions. pool_few_<max|avg>_<t>_<rows>_<columns>: a thread
// reads the whole of such a window at once; _line_<most>: an adaptive window within a row, of so many elements at most; _any and _adaptive: lanes of a warp share one; .._block: a block has one.
#include "common/reduce.cuh"
#include "common/vec.cuh"
#include "pooling/few.h"
#include "pooling/tile.cuh"

namespace {

using opscope::cuda::few_window;
using opscope::cuda::FewWindows;

struct Output {
  int across, down, plane;
};
__device__ __forceinline__ Output output_of(int i, const FewWindows& s) {
  const int row = divided(i, s.by_out_width), plane = divided(row, s.by_out_height);
  return {i - row * s.out_width, row - plane * s.out_height, plane};
}

template <bool MAX, int DOWN, int ACROSS, class T>
__device__ __forceinline__ void together(const FewWindows& s) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= s.outputs) return;
  const Output o = output_of(i, s);
  const int top = DOWN > 1 ? o.down * s.stride_down - s.padding_down : o.down, left = o.across * s.stride - s.padding;
  const T* x = reinterpret_cast<const T*>(s.x) + ((o.plane * s.height + top) * s.width + left);
  float v[DOWN][ACROSS];
#pragma unroll
  for (int r = 0; r < DOWN; r++) {
    const bool inside = DOWN == 1 || static_cast<unsigned>(top + r) < static_cast<unsigned>(s.height);
#pragma unroll
    for (int c = 0; c < ACROSS; c++) v[r][c] = inside && static_cast<unsigned>(left + c) < static_cast<unsigned>(s.width) ? to_float(x[r * s.width + c]) : MAX ? -INFINITY : 0.0f;
  }
  float total = v[0][0];
#pragma unroll
  for (int k = 1; k < DOWN * ACROSS; k++) total = of_two<MAX>(total, v[k / ACROSS][k % ACROSS]);
  reinterpret_cast<T*>(s.out)[i] = from_float<T>(MAX ? total : __fdividef(total, s.counted));
}

template <bool MAX, int MOST, class T>
__device__ __forceinline__ void line(const FewWindows& s) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= s.outputs) return;
  const int row = divided(i, s.by_out_width), from = (i - row * s.out_width) * s.width, first = divided(from, s.by_out_width), wide = divided(from + s.width + s.out_width - 1, s.by_out_width) - first;
  const T* x = reinterpret_cast<const T*>(s.x) + (row * s.width + first);
  float v[MOST];
#pragma unroll
  for (int e = 0; e < MOST; e++) v[e] = e < wide ? to_float(x[e]) : MAX ? -INFINITY : 0.0f;
  float total = v[0];
#pragma unroll
  for (int e = 1; e < MOST; e++) total = of_two<MAX>(total, v[e]);
  reinterpret_cast<T*>(s.out)[i] = from_float<T>(MAX ? total : __fdividef(total, static_cast<float>(wide)));
}

// Of an axis.
struct Reach {
  int first, end;
};
template <bool ADAPTIVE>
__device__ __forceinline__ Reach reach_of(int o, int input, int output, int kernel, int stride, int padding, Divide by_output) {
  if (ADAPTIVE) return {divided(o * input, by_output), divided((o + 1) * input + output - 1, by_output)};
  const int first = o * stride - padding;
  return {max(first, 0), min(first + kernel, input)};
}

template <bool MAX, bool ADAPTIVE, bool BLOCK, class T>
__device__ __forceinline__ void shared(const FewWindows& s) {
  const int thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), own = BLOCK ? static_cast<int>(blockIdx.x) : thread >> s.log2;
  const int lane = BLOCK ? static_cast<int>(threadIdx.x) : thread & ((1 << s.log2) - 1), step = BLOCK ? static_cast<int>(blockDim.x) : 1 << s.log2;
  // Threads beyond the outputs stay for the others of their warp.
  const Output o = output_of(min(own, s.outputs - 1), s);
  const Reach down = reach_of<ADAPTIVE>(o.down, s.height, s.out_height, s.kernel_down, s.stride_down, s.padding_down, s.by_out_height);
  const Reach across = reach_of<ADAPTIVE>(o.across, s.width, s.out_width, s.kernel, s.stride, s.padding, s.by_out_width);
  const T* x = reinterpret_cast<const T*>(s.x) + o.plane * s.height * s.width;
  const int count = s.down * s.across;
  float total = MAX ? -INFINITY : 0.0f;
#pragma unroll 1
  for (int from = lane; from < count; from += few_window * step) {
    float v[few_window];
#pragma unroll
    for (int e = 0; e < few_window; e++) {
      const int k = from + e * step, r = divided(k, s.by_across), row = down.first + r, column = across.first + (k - r * s.across);
      // A place behind the window is behind its last row.
      v[e] = row < down.end && column < across.end ? to_float(x[row * s.width + column]) : MAX ? -INFINITY : 0.0f;
    }
#pragma unroll
    for (int e = 0; e < few_window; e++) total = of_two<MAX>(total, v[e]);
  }
  if constexpr (BLOCK) {
    __shared__ float scratch[32];
    total = block_reduce(total, MAX ? -INFINITY : 0.0f, scratch, [](float p, float q) { return of_two<MAX>(p, q); });
  } else {
#pragma unroll
    for (int k = 4; k >= 0; k--)
      if (k < s.log2) total = of_two<MAX>(total, __shfl_xor_sync(0xffffffffu, total, 1 << k));
  }
  const float counted = ADAPTIVE ? static_cast<float>((down.end - down.first) * (across.end - across.first)) : s.counted;
  if (lane == 0 && own < s.outputs) reinterpret_cast<T*>(s.out)[own] = from_float<T>(MAX ? total : __fdividef(total, counted));
}

}  // namespace

#define TOGETHER(T, kind, MAX, DOWN, ACROSS) \
  extern "C" __global__ void __launch_bounds__(128) pool_few_##kind##_##T##_##DOWN##_##ACROSS(const __grid_constant__ FewWindows s) { together<MAX, DOWN, ACROSS, T>(s); }
#define LINE(T, kind, MAX, MOST) \
  extern "C" __global__ void __launch_bounds__(128) pool_few_##kind##_##T##_line_##MOST(const __grid_constant__ FewWindows s) { line<MAX, MOST, T>(s); }
#define SHARED(T, kind, MAX, windows, ADAPTIVE)                                                                                                                       \
  extern "C" __global__ void __launch_bounds__(128) pool_few_##kind##_##T##_##windows(const __grid_constant__ FewWindows s) { shared<MAX, ADAPTIVE, false, T>(s); }       \
  extern "C" __global__ void __launch_bounds__(1024) pool_few_##kind##_##T##_##windows##_block(const __grid_constant__ FewWindows s) { shared<MAX, ADAPTIVE, true, T>(s); }
#define POOLS(T, kind, MAX)                                                                                                                              \
  TOGETHER(T, kind, MAX, 1, 2) TOGETHER(T, kind, MAX, 1, 3) TOGETHER(T, kind, MAX, 2, 2) TOGETHER(T, kind, MAX, 3, 3) LINE(T, kind, MAX, 4) LINE(T, kind, MAX, 8) \
  SHARED(T, kind, MAX, any, false) SHARED(T, kind, MAX, adaptive, true)
POOLS(f32, max, true)
POOLS(f16, max, true)
POOLS(bf16, max, true)
POOLS(f32, avg, false)
POOLS(f16, avg, false)
POOLS(bf16, avg, false)
