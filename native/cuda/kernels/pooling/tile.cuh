// Windows of a tile of the input that lies in shared memory.
#pragma once
#include "planes.cuh"

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

// A bf16 number, or 0 where `inside` does not hold, in one product: a shift and a selection are two instructions of the unit that has most to do here. The factor is worked out once for a column of windows.
__device__ __forceinline__ float where(bf16 v, bool inside) {
  unsigned factor = inside ? 1u << 16 : 0;
  asm("" : "+r"(factor));
  return __uint_as_float(*reinterpret_cast<const unsigned short*>(&v) * factor);
}

// A thread walks down a column of windows, and a row that two windows share is met once. KD, K, SD, S: rows and columns of a window and their distance.
template <bool MAX, int KD, int K, int SD, int S, class T>
__device__ __forceinline__ void pool_tile(const T* __restrict__ x, T* __restrict__ out, const PoolTile& s) {
  using P = Pooled<MAX, T>;
  using Value = typename P::Value;
  const Value pad = P::of(from_float<T>(MAX ? -INFINITY : 0.0f));
  extern __shared__ uint4 vectors_at[];
  const PlaneTile<T> t(x, s, vectors_at);
  const float share = MAX ? 1.0f : 1.0f / s.counted;
  // Elements j of a row of a window may lie in the padding, which is half a window at most.
  const auto across = [&](int at, int x0) {
    Value v[K];
#pragma unroll
    for (int j = 0; j < K; j++) {
      if constexpr (!MAX && std::is_same_v<T, bf16>) {
        v[j] = j < K / 2 || j >= K - K / 2 ? where(t.tile[at + j], static_cast<unsigned>(x0 + j) < static_cast<unsigned>(s.width)) : to_float(t.tile[at + j]);
        continue;
      }
      v[j] = P::of(t.tile[at + j]);
      if ((j < K / 2 || j >= K - K / 2) && static_cast<unsigned>(x0 + j) >= static_cast<unsigned>(s.width)) v[j] = pad;
    }
#pragma unroll
    for (int j = 1; j < K; j++) v[0] = of_two<MAX>(v[0], v[j]);
    return v[0];
  };
  if constexpr (KD == 1) {
#pragma unroll 2
    for (int i = threadIdx.x; i < t.count; i += blockDim.x) {
      int p = 0, c = i;
      if (t.planes > 1) {
        p = static_cast<int>(static_cast<unsigned>(i) / static_cast<unsigned>(t.cols));
        c = i - p * t.cols;
      }
      const int x0 = (t.col + c) * S - s.padding;
      t.to[i] = P::result(across(p * s.width + t.shift + x0 - t.left, x0), share);
    }
  } else {
    t.each_column([&](int p, int from, int end, int c, int x0, int line0) {
      int o = (p * s.out_height + from) * s.out_width + c, y = (t.row + from) * SD - s.padding_down;
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
        t.to[o] = P::result(total, share);
        o += s.out_width;
        y += SD;
#pragma unroll
        for (int r = 0; r < kept; r++) h[r] = h[r + SD];
      }
    });
  }
  t.store(out);
}

// Adaptive windows: a thread walks down a column of them. Where the next row of windows begins is found by additions.
template <bool MAX, class T>
__device__ __forceinline__ void pool_adaptive_tile(const T* __restrict__ x, T* __restrict__ out, const AdaptiveTile& a) {
  using P = Pooled<MAX, T>;
  using Value = typename P::Value;
  const PoolTile& s = a.tile;
  const Value pad = P::of(from_float<T>(MAX ? -INFINITY : 0.0f));
  extern __shared__ uint4 vectors_at[];
  const PlaneTile<T, true> t(x, s, vectors_at);
  const int chunks = (t.rows + s.chunk - 1) / s.chunk, items = t.planes * chunks * t.cols;
  // Of t.col * s.width, which is no number of 32 bits, what a whole number of windows leaves.
  const int before = s.splits == 1 ? 0 : static_cast<int>(static_cast<long long>(t.col) * s.width - static_cast<long long>(t.left) * s.out_width);
  for (int item = threadIdx.x; item < items; item += blockDim.x) {
    int p = 0, chunk = 0, c = item;
    if (items > t.cols) {
      chunk = divided(item, a.by_cols), c = item - chunk * t.cols;
      if (t.planes > 1) p = divided(chunk, a.by_chunks), chunk -= p * chunks;
    }
    // Columns from the left side of the tile.
    const int place = before + c * s.width, first = divided(place, a.by_out_width), wide = divided(place + s.width + s.out_width - 1, a.by_out_width) - first;
    const int from = chunk * s.chunk, end = min(t.rows, from + s.chunk), start = (t.row + from) * s.height;
    int top = divided(start, a.by_out_height), rest = start - top * s.out_height, o = (p * s.out_height + from) * s.out_width + c;
    const T* line = t.tile + (p * s.height + top - t.top) * s.width + t.shift + first;
    for (int n = from; n < end; n++, o += s.out_width) {
      int next = top + a.next_down;
      rest += a.next_across;
      if (rest >= s.out_height) rest -= s.out_height, next++;
      const int bottom = next + (rest > 0 ? 1 : 0);
      Value total = pad;
      const T* at = line;
      for (int r = top; r < bottom; r++, at += s.width)
        for (int k = 0; k < wide; k += 2) {
          const Value v = P::of(at[k]), w = k + 1 < wide ? P::of(at[k + 1]) : pad;
          total = of_two<MAX>(total, of_two<MAX>(v, w));
        }
      t.to[o] = P::result(total, MAX ? 1.0f : __fdividef(1.0f, static_cast<float>((bottom - top) * wide)));
      line += (next - top) * s.width;
      top = next;
    }
  }
  t.store(out);
}
