// Windows of a tile of the input that lies in shared memory.
#pragma once
#include "../common/vec.cuh"
#include "../pooling.h"

// Of two, where NaN is larger than all.
__device__ __forceinline__ float larger(float a, float b) {
#ifdef __CUDA_ARCH__
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(a) : "f"(a), "f"(b));
  return a;
#else
  return b > a || b != b ? b : a;
#endif
}
__device__ __forceinline__ f16 larger(f16 a, f16 b) { return __hmax_nan(a, b); }
__device__ __forceinline__ bf16 larger(bf16 a, bf16 b) { return __hmax_nan(a, b); }
template <bool MAX, class V>
__device__ __forceinline__ V of_two(V a, V b) {
  if constexpr (MAX) return larger(a, b);
  else return a + b;
}

// Maxima are taken in the type of the elements, sums in f32.
template <bool MAX, class T>
struct Pooled {
  using Value = float;
  static __device__ __forceinline__ float of(T v) { return to_float(v); }
  static __device__ __forceinline__ T result(float v, float share) { return from_float<T>(v * share); }
};
template <class T>
struct Pooled<true, T> {
  using Value = T;
  static __device__ __forceinline__ T of(T v) { return v; }
  static __device__ __forceinline__ T result(T v, float) { return v; }
};

// `vectors` of 16 bytes to shared memory, for all threads of the block: by the copy engine, or before sm_90 a vector at a time.
__device__ __forceinline__ void fetch_tile(uint4* to, const uint4* from, int vectors) {
#if __CUDA_ARCH__ >= 900
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(at) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(vectors * 16) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "l"(from), "r"(vectors * 16), "r"(at) : "memory");
  }
  __syncthreads();
  asm volatile("{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n@done bra over;\nbra again;\nover:\n}" ::"r"(at) : "memory");
#else
#pragma unroll 4
  for (int v = threadIdx.x; v < vectors; v += blockDim.x) to[v] = from[v];
  __syncthreads();
#endif
}

// A block has a tile of whole planes, of rows of a plane, or of a part of the only row (pooling/shape.h): one piece of memory, whatever its alignment, and so
// are its outputs. A thread walks down a column of windows, and a row that two windows share is met once. KD, K, SD, S: rows and columns of a window and
// their distance.
template <bool MAX, int KD, int K, int SD, int S, class T>
__device__ __forceinline__ void pool_tile(const T* __restrict__ x, T* __restrict__ out, const PoolTile& s) {
  using P = Pooled<MAX, T>;
  using Value = typename P::Value;
  constexpr int L = LANES<T>;
  const Value pad = P::of(from_float<T>(MAX ? -INFINITY : 0.0f));
  extern __shared__ uint4 vectors_at[];
  T* const tile = reinterpret_cast<T*>(vectors_at) + L;  // what lies before a row is read, and not used
  unsigned block = blockIdx.x;
  const int split = static_cast<int>(block % static_cast<unsigned>(s.splits));
  block /= static_cast<unsigned>(s.splits);
  const int band = static_cast<int>(block % static_cast<unsigned>(s.bands));
  const long long plane = static_cast<long long>(block / static_cast<unsigned>(s.bands)) * s.together;
  const int planes = static_cast<int>(min(static_cast<long long>(s.together), s.planes - plane));
  const int row = band * s.rows, rows = min(s.rows, s.out_height - row), col = split * s.cols, cols = min(s.cols, s.out_width - col);
  const int top = planes > 1 ? 0 : max(0, row * SD - s.padding_down), bottom = planes > 1 ? s.height : min(s.height, (row + rows - 1) * SD - s.padding_down + KD);
  const int left = s.splits == 1 ? 0 : max(0, col * S - s.padding), right = s.splits == 1 ? s.width : min(s.width, (col + cols - 1) * S - s.padding + K);
  const int lines = planes > 1 ? planes * s.height : bottom - top;
  const long long first = (plane * s.height + top) * s.width + left;
  const int shift = static_cast<int>(first & (L - 1));
  fetch_tile(vectors_at + 1, reinterpret_cast<const uint4*>(x + (first - shift)), (shift + (lines - 1) * s.width + right - left + L - 1) / L);

  const long long out_first = (plane * s.out_height + row) * s.out_width + col;
  const int out_shift = static_cast<int>(out_first & (L - 1)), count = planes > 1 ? planes * s.out_height * s.out_width : (rows - 1) * s.out_width + cols;
  T* const to = tile + s.out_at + out_shift;
  const float share = 1.0f / static_cast<float>(KD * K);
  // Elements j of a row of a window may lie in the padding, which is half a window at most.
  const auto across = [&](int at, int x0) {
    Value v[K];
#pragma unroll
    for (int j = 0; j < K; j++) {
      v[j] = P::of(tile[at + j]);
      if ((j < K / 2 || j >= K - K / 2) && static_cast<unsigned>(x0 + j) >= static_cast<unsigned>(s.width)) v[j] = pad;
    }
#pragma unroll
    for (int j = 1; j < K; j++) v[0] = of_two<MAX>(v[0], v[j]);
    return v[0];
  };
  if constexpr (KD == 1) {
#pragma unroll 2
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
      int p = 0, c = i;
      if (planes > 1) {
        p = static_cast<int>(static_cast<unsigned>(i) / static_cast<unsigned>(cols));
        c = i - p * cols;
      }
      const int x0 = (col + c) * S - s.padding;
      to[i] = P::result(across(p * s.width + shift + x0 - left, x0), share);
    }
  } else {
    const int chunks = (rows + s.chunk - 1) / s.chunk, items = planes * chunks * cols;
    for (int item = threadIdx.x; item < items; item += blockDim.x) {
      int p = 0, chunk = 0, c = item;
      if (items > cols) {
        chunk = static_cast<int>(static_cast<unsigned>(item) / static_cast<unsigned>(cols));
        c = item - chunk * cols;
        if (planes > 1) {
          p = chunks == 1 ? chunk : static_cast<int>(static_cast<unsigned>(chunk) / static_cast<unsigned>(chunks));
          chunk -= p * chunks;
        }
      }
      const int from = chunk * s.chunk, end = min(rows, from + s.chunk), x0 = (col + c) * S - s.padding, line0 = (p * s.height - top) * s.width + shift + x0 - left;
      int o = (p * s.out_height + from) * s.out_width + c, y = (row + from) * SD - s.padding_down;
      // A row above or below the plane: its neighbour is in the window, and no larger than itself.
      const auto down = [&](int y) {
        const Value h = across(line0 + min(max(y, 0), s.height - 1) * s.width, x0);
        return MAX || static_cast<unsigned>(y) < static_cast<unsigned>(s.height) ? h : pad;
      };
      constexpr int kept = KD > SD ? KD - SD : 0;
      Value h[KD];
#pragma unroll
      for (int r = 0; r < kept; r++) h[r] = down(y + r);
#pragma unroll 2
      for (int n = from; n < end; n++) {
#pragma unroll
        for (int r = kept; r < KD; r++) h[r] = down(y + r);
        Value total = h[0];
#pragma unroll
        for (int r = 1; r < KD; r++) total = of_two<MAX>(total, h[r]);
        to[o] = P::result(total, share);
        o += s.out_width;
        y += SD;
#pragma unroll
        for (int r = 0; r < kept; r++) h[r] = h[r + SD];
      }
    }
  }
  __syncthreads();
  const int head = min(count, (L - out_shift) & (L - 1)), done = head + (count - head) / L * L;
  T* const target = out + out_first;
#pragma unroll 4
  for (int i = head + static_cast<int>(threadIdx.x) * L; i < done; i += blockDim.x * L) store16(target + i, load16(to + i));
  if (static_cast<int>(threadIdx.x) < head) target[threadIdx.x] = to[threadIdx.x];
  if (static_cast<int>(threadIdx.x) < count - done) target[done + threadIdx.x] = to[done + threadIdx.x];
}
