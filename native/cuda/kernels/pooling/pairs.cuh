// Windows of 3x3 two apart, over planes with a padding of one, in 16 bits: two outputs side by side of a tile in shared memory, whose columns are read two at a time.
#pragma once
#include "../common/pairs.cuh"
#include "tile.cuh"

// Two outputs on their way: maxima in one word, sums in f32.
template <bool MAX, class T>
struct PooledPair {
  using Value = float2;
  static __device__ __forceinline__ Value of_two(Value a, Value b) { return make_float2(a.x + b.x, a.y + b.y); }
  static __device__ __forceinline__ uint32_t result(Value v, float share) { return pack_pair(v.x * share, v.y * share, T()); }
  // Of a row: the words behind `before`, of which the upper element counts if it is `inside`.
  static __device__ __forceinline__ Value across(uint32_t before, uint2 w, unsigned inside) {
    float none, a, b, c, d, e;
    unpack_pair(before & inside, none, a, T());
    unpack_pair(w.x, b, c, T());
    unpack_pair(w.y, d, e, T());
    return make_float2(a + b + c, c + d + e);
  }
};
template <class T>
struct PooledPair<true, T> {
  using Value = uint32_t;
  static __device__ __forceinline__ Value of_two(Value a, Value b) {
    return of_pairs<T>(a, b, [](auto p, auto q) { return __hmax2_nan(p, q); });
  }
  static __device__ __forceinline__ uint32_t result(Value v, float) { return v; }
  // Where the upper element of `before` is outside, the one behind it stands for it.
  static __device__ __forceinline__ Value across(uint32_t before, uint2 w, unsigned inside) {
    return of_two(of_two(__byte_perm(w.x, w.y, 0x5410), __byte_perm(w.x, w.y, 0x7632)), __byte_perm(inside ? before : w.x, w.x, 0x7632));
  }
};

// Rows of the plane are whole fours, so that every four of them starts on 8 bytes, and those of outputs whole pairs. A thread walks down a column of pairs.
template <bool MAX, class T>
__device__ __forceinline__ void pool_tile_pairs(const T* __restrict__ x, T* __restrict__ out, const PoolTile& s) {
  using P = PooledPair<MAX, T>;
  using Value = typename P::Value;
  extern __shared__ uint4 vectors_at[];
  const PlaneTile<T> t(x, s, vectors_at);
  const float share = MAX ? 1.0f : 1.0f / s.counted;
  const int wide = t.cols / 2, line = s.width / 2, chunks = (t.rows + s.chunk - 1) / s.chunk, items = t.planes * chunks * wide;
  for (int item = threadIdx.x; item < items; item += blockDim.x) {
    int p = 0, chunk = static_cast<int>(static_cast<unsigned>(item) / static_cast<unsigned>(wide));
    const int pair = item - chunk * wide;
    if (t.planes > 1) {
      p = static_cast<int>(static_cast<unsigned>(chunk) / static_cast<unsigned>(chunks));
      chunk -= p * chunks;
    }
    const int from = chunk * s.chunk, end = min(t.rows, from + s.chunk);
    const unsigned inside = pair > 0 ? ~0u : 0u;
    int y = (t.row + from) * 2 - 1;
    const uint32_t* at = reinterpret_cast<const uint32_t*>(t.tile + ((p * s.height - t.top + y) * s.width + t.shift)) + pair * 2;
    uint32_t* to = reinterpret_cast<uint32_t*>(t.to + (p * s.out_height + from) * s.out_width) + pair;
    const auto across = [&](const uint32_t* row) { return P::across(row[-1], *reinterpret_cast<const uint2*>(row), inside); };
    // A row above or below the plane: of maxima its neighbour, which is in the window, stands for it.
    const auto outside = [&](const uint32_t* neighbour) {
      if constexpr (MAX) return across(neighbour);
      else return make_float2(0.0f, 0.0f);
    };
    Value above = y >= 0 ? across(at) : outside(at + line);
#pragma unroll 2
    for (int n = from; n < end; n++) {
      const Value own = across(at + line), below = y + 2 < s.height ? across(at + 2 * line) : outside(at + line);
      *to = P::result(P::of_two(P::of_two(above, own), below), share);
      above = below;
      at += 2 * line, to += s.out_width / 2, y += 2;
    }
  }
  t.store(out);
}
