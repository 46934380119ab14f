// Largest element or mean of windows of planes. pool_<max|avg>_<t>: one thread per output; _warp: one warp, for large windows; _few, _few_8, _few_32: a thread,
// eight or a warp, with places of 32 bits; _adaptive: a thread for outputs of adaptive windows below each other; _four: a thread for four outputs, a block apart, of windows that are not adaptive, where inputs and outputs are less than
// 2^31 - 1024; _four_2 and _four_3: of windows as wide; _tile_<rows>_<columns>_<stride>: tiles of such windows in shared memory; _tile_pairs: two outputs of them side by side; _adaptive_tile: of adaptive ones.
#include "pooling/pairs.cuh"

namespace {

template <class I>
struct Span {
  I first, end, counted;
};

// Window of output `o` along an axis; kernel 0: adaptive.
template <class I>
__device__ __forceinline__ Span<I> span_of(I o, I input, I output, I kernel, I stride, I padding) {
  if (kernel == 0) {
    const I first = o * input / output, end = ((o + 1) * input + output - 1) / output;
    return {first, end, end - first};
  }
  const I at = o * stride - padding;
  return {max(at, I(0)), min(at + kernel, input), kernel};
}

// GROUP threads for an output, each with four elements of its window on their way. I: what places are counted in.
template <bool MAX, int GROUP, class I, class T>
__device__ __forceinline__ void pool(const T* __restrict__ x, T* __restrict__ out, const PoolSizes& s) {
  constexpr int U = 4;
  const I outputs = static_cast<I>(s.outputs), width = static_cast<I>(s.width), height = static_cast<I>(s.height), out_width = static_cast<I>(s.out_width), out_height = static_cast<I>(s.out_height);
  const I i = (static_cast<I>(blockIdx.x) * pool_threads + static_cast<I>(threadIdx.x)) / GROUP;
  // The groups of a warp end together, as they exchange what they have.
  if (GROUP == 1 && i >= outputs) return;
  const I own = min(i, outputs - 1);
  const int lane = threadIdx.x % GROUP;
  const auto over = [&](I a, I b) { return sizeof(I) == 4 || (s.outputs >> 32) == 0 ? static_cast<I>(static_cast<unsigned>(a) / static_cast<unsigned>(b)) : a / b; };
  const I row = over(own, out_width), plane = over(row, out_height);
  const Span<I> down = span_of<I>(row - plane * out_height, height, out_height, static_cast<I>(s.kernel_down), static_cast<I>(s.stride_down), static_cast<I>(s.padding_down));
  const Span<I> across = span_of<I>(own - row * out_width, width, out_width, static_cast<I>(s.kernel), static_cast<I>(s.stride), static_cast<I>(s.padding));
  const I wide = across.end - across.first, count = (down.end - down.first) * wide;
  const T* from = x + (plane * height + down.first) * width + across.first;
  float total = MAX ? -INFINITY : 0.0f;
  I line = 0, c = 0;  // of the next element, where a thread has the whole window
  for (I k = lane; k < count; k += GROUP * U) {
    float v[U];
#pragma unroll
    for (int u = 0; u < U; u++) {
      const I at = k + u * GROUP;
      I place;
      if (GROUP == 1) {
        place = line + c;
        if (++c == wide) c = 0, line += width;
      } else {
        const I r = at / wide;
        place = r * width + (at - r * wide);
      }
      v[u] = at < count ? to_float(from[place]) : MAX ? -INFINITY : 0.0f;
    }
#pragma unroll
    for (int u = 0; u < U; u++) total = of_two<MAX>(total, v[u]);
  }
#pragma unroll
  for (int offset = GROUP / 2; offset > 0; offset /= 2) total = of_two<MAX>(total, __shfl_xor_sync(0xffffffffu, total, offset));
  if (i < outputs && lane == 0) out[i] = from_float<T>(MAX ? total : total / (s.counted > 0 ? s.counted : static_cast<float>(down.counted * across.counted)));
}

// Adaptive windows of many outputs: a thread has `pool_rows` of them below each other. Where the window of the next one begins is found by additions.
template <bool MAX, class T>
__device__ __forceinline__ void pool_adaptive(const T* __restrict__ x, T* __restrict__ out, const PoolSizes& s) {
  constexpr int U = 4;
  const int width = static_cast<int>(s.width), height = static_cast<int>(s.height), out_width = static_cast<int>(s.out_width), out_height = static_cast<int>(s.out_height), groups = (out_height + pool_rows - 1) / pool_rows;
  const unsigned i = blockIdx.x * pool_threads + threadIdx.x, row = i / static_cast<unsigned>(out_width);
  const int plane = static_cast<int>(row / static_cast<unsigned>(groups)), ow = static_cast<int>(i - row * static_cast<unsigned>(out_width));
  int oh = static_cast<int>(row - static_cast<unsigned>(plane) * static_cast<unsigned>(groups)) * pool_rows;
  if (static_cast<long long>(plane) * out_height * out_width >= s.outputs) return;
  const int first = ow * width / out_width, wide = ((ow + 1) * width + out_width - 1) / out_width - first;
  int top = oh * height / out_height, rest = oh * height - top * out_height;
  const T* from = x + static_cast<long long>(plane) * height * width + first;
  T* to = out + (static_cast<long long>(plane) * out_height + oh) * out_width + ow;
#pragma unroll
  for (int u = 0; u < pool_rows; u++) {
    if (oh + u >= out_height) break;
    int next = top + s.next_down;
    rest += s.next_across;
    if (rest >= out_height) rest -= out_height, next++;
    const int end = next + (rest > 0 ? 1 : 0);
    float total = MAX ? -INFINITY : 0.0f;
    for (int r = top; r < end; r += 2)
      for (int c = 0; c < wide; c += U) {
        const T* at = from + static_cast<long long>(r) * width + c;
        float v[2][U];
#pragma unroll
        for (int k = 0; k < U; k++) {
          v[0][k] = c + k < wide ? to_float(at[k]) : MAX ? -INFINITY : 0.0f;
          v[1][k] = c + k < wide && r + 1 < end ? to_float(at[width + k]) : MAX ? -INFINITY : 0.0f;
        }
#pragma unroll
        for (int k = 0; k < U; k++) total = of_two<MAX>(total, of_two<MAX>(v[0][k], v[1][k]));
      }
    to[static_cast<long long>(u) * out_width] = from_float<T>(MAX ? total : total / static_cast<float>((end - top) * wide));
    top = next;
  }
}

// The outputs of a thread are a block apart, so that neighbouring threads read and write neighbouring elements; only the first one's place takes divisions.
// K: width of a window; 0: any.
template <bool MAX, int K, class T>
__device__ __forceinline__ void pool_four(const T* __restrict__ x, T* __restrict__ out, const PoolSizes& s) {
  constexpr int V = pool_outputs;
  const int first = static_cast<int>(blockIdx.x) * (V * pool_threads) + static_cast<int>(threadIdx.x), outputs = static_cast<int>(s.outputs);
  if (first >= outputs) return;
  const int out_width = static_cast<int>(s.out_width), out_height = static_cast<int>(s.out_height), height = static_cast<int>(s.height), width = static_cast<int>(s.width);
  const int down = max(1, static_cast<int>(s.kernel_down)), across = K > 0 ? K : static_cast<int>(s.kernel);
  const int row = static_cast<unsigned>(first) / static_cast<unsigned>(out_width);
  int plane = static_cast<unsigned>(row) / static_cast<unsigned>(out_height), oh = row - plane * out_height, ow = first - row * out_width;
  int top[V], left[V], origin[V];  // of the windows, and where they begin
  float total[V];
#pragma unroll
  for (int u = 0; u < V; u++) {
    top[u] = oh * static_cast<int>(s.stride_down) - static_cast<int>(s.padding_down), left[u] = ow * static_cast<int>(s.stride) - static_cast<int>(s.padding);
    origin[u] = (plane * height + top[u]) * width + left[u];
    // Past the end: below the plane.
    if (first + u * pool_threads >= outputs) top[u] = height;
    total[u] = MAX ? -INFINITY : 0.0f;
    ow += s.next_across;
    oh += s.next_down;
    plane += s.next_planes;
    if (ow >= out_width) ow -= out_width, oh++;
    if (oh >= out_height) oh -= out_height, plane++;
  }
  for (int r = 0; r < down; r++) {
    const T* line[V];
    int end[V];  // 0 for a row outside of the plane
#pragma unroll
    for (int u = 0; u < V; u++) {
      end[u] = static_cast<unsigned>(top[u] + r) < static_cast<unsigned>(height) ? width : 0;
      line[u] = x + (origin[u] + r * width);
    }
#pragma unroll(K > 0 ? K : 2)
    for (int c = 0; c < across; c++) {
      float v[V];
#pragma unroll
      for (int u = 0; u < V; u++) v[u] = static_cast<unsigned>(left[u] + c) < static_cast<unsigned>(end[u]) ? to_float(line[u][c]) : MAX ? -INFINITY : 0.0f;
#pragma unroll
      for (int u = 0; u < V; u++) total[u] = of_two<MAX>(total[u], v[u]);
    }
  }
#pragma unroll
  for (int u = 0; u < V; u++)
    if (first + u * pool_threads < outputs) out[first + u * pool_threads] = from_float<T>(MAX ? total[u] : total[u] / s.counted);
}

}  // namespace

#define POOL(T, kind, MAX)                                                                                                                               \
  extern "C" __global__ void __launch_bounds__(256) pool_##kind##_##T(const T* x, T* out, const PoolSizes s) { pool<MAX, 1, long long>(x, out, s); }        \
  extern "C" __global__ void __launch_bounds__(256) pool_##kind##_##T##_warp(const T* x, T* out, const PoolSizes s) { pool<MAX, 32, long long>(x, out, s); } \
  extern "C" __global__ void __launch_bounds__(256) pool_##kind##_##T##_few(const T* x, T* out, const PoolSizes s) { pool<MAX, 1, int>(x, out, s); }       \
  extern "C" __global__ void __launch_bounds__(256) pool_##kind##_##T##_few_8(const T* x, T* out, const PoolSizes s) { pool<MAX, 8, int>(x, out, s); }     \
  extern "C" __global__ void __launch_bounds__(256) pool_##kind##_##T##_few_32(const T* x, T* out, const PoolSizes s) { pool<MAX, 32, int>(x, out, s); }   \
  extern "C" __global__ void __launch_bounds__(256) pool_##kind##_##T##_adaptive(const T* x, T* out, const PoolSizes s) { pool_adaptive<MAX>(x, out, s); } \
  extern "C" __global__ void __launch_bounds__(256) pool_##kind##_##T##_four(const T* x, T* out, const PoolSizes s) { pool_four<MAX, 0>(x, out, s); }     \
  extern "C" __global__ void __launch_bounds__(256) pool_##kind##_##T##_four_2(const T* x, T* out, const PoolSizes s) { pool_four<MAX, 2>(x, out, s); }   \
  extern "C" __global__ void __launch_bounds__(256) pool_##kind##_##T##_four_3(const T* x, T* out, const PoolSizes s) { pool_four<MAX, 3>(x, out, s); }
#define ADAPTIVE_TILE(T, kind, MAX) \
  extern "C" __global__ void __launch_bounds__(128) pool_##kind##_##T##_adaptive_tile(const T* x, T* out, const __grid_constant__ AdaptiveTile s) { pool_adaptive_tile<MAX>(x, out, s); }
#define TILE(T, kind, MAX, KD, K, SD, S) \
  extern "C" __global__ void __launch_bounds__(128) pool_##kind##_##T##_tile_##KD##_##K##_##S(const T* x, T* out, const PoolTile s) { pool_tile<MAX, KD, K, SD, S>(x, out, s); }
#define SIGNALS(T, kind, MAX, K, S) TILE(T, kind, MAX, 1, K, 1, S)
#define IMAGES(T, kind, MAX, K, S) TILE(T, kind, MAX, K, K, S, S)
#define POOLS(T, kind, MAX)                                                                                                                                          \
  POOL(T, kind, MAX) ADAPTIVE_TILE(T, kind, MAX)                                                                                                                               \
  SIGNALS(T, kind, MAX, 2, 1) SIGNALS(T, kind, MAX, 2, 2) SIGNALS(T, kind, MAX, 3, 1) SIGNALS(T, kind, MAX, 3, 2) SIGNALS(T, kind, MAX, 3, 3) SIGNALS(T, kind, MAX, 5, 1) SIGNALS(T, kind, MAX, 5, 2) SIGNALS(T, kind, MAX, 5, 5) \
  SIGNALS(T, kind, MAX, 7, 1) SIGNALS(T, kind, MAX, 7, 2) SIGNALS(T, kind, MAX, 7, 7)                                                                                  \
  IMAGES(T, kind, MAX, 2, 1) IMAGES(T, kind, MAX, 2, 2) IMAGES(T, kind, MAX, 3, 1) IMAGES(T, kind, MAX, 3, 2) IMAGES(T, kind, MAX, 3, 3) IMAGES(T, kind, MAX, 5, 1) IMAGES(T, kind, MAX, 5, 2) IMAGES(T, kind, MAX, 5, 5) \
  IMAGES(T, kind, MAX, 7, 1) IMAGES(T, kind, MAX, 7, 2) IMAGES(T, kind, MAX, 7, 7)
#define PAIRS(T) \
  extern "C" __global__ void __launch_bounds__(128) pool_max_##T##_tile_pairs(const T* x, T* out, const PoolTile s) { pool_tile_pairs<true>(x, out, s); } \
  extern "C" __global__ void __launch_bounds__(128) pool_avg_##T##_tile_pairs(const T* x, T* out, const PoolTile s) { pool_tile_pairs<false>(x, out, s); }
PAIRS(f16)
PAIRS(bf16)
POOLS(f32, max, true)
POOLS(f16, max, true)
POOLS(bf16, max, true)
POOLS(f32, avg, false)
POOLS(f16, avg, false)
POOLS(bf16, avg, false)
