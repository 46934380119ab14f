// Square windows of planes whose rows are too long for a tile (pooling/tile.cuh): a thread walks down a column of windows, reads rows from memory and keeps what windows share.
//   pool_walk_<max|avg>_<t>_<columns>_<stride>
#include "pooling/tile.cuh"

namespace {

template <bool B>
struct Known {
  static constexpr bool value = B;
};

template <bool MAX, int K, int S, class T>
__device__ __forceinline__ void pool_walk(const T* __restrict__ x, T* __restrict__ out, const PoolWalk& s) {
  using P = Pooled<MAX, T>;
  using Value = typename P::Value;
  const int i = static_cast<int>(blockIdx.x * pool_threads + threadIdx.x);
  if (i >= s.items) return;
  const int rest = divided(i, s.by_out_width), c = i - rest * s.out_width, plane = divided(rest, s.by_chunks), from = (rest - plane * s.chunks) * s.rows, end = min(s.out_height, from + s.rows);
  const int x0 = c * S - s.padding;
  const T* const own = x + static_cast<long long>(plane) * s.height * s.width;
  T* to = out + (static_cast<long long>(plane) * s.out_height + from) * s.out_width + c;
  const Value pad = P::of(from_float<T>(MAX ? -INFINITY : 0.0f));
  const float share = MAX ? 1.0f : 1.0f / s.counted;
  // Row y of the plane, from column x0 on. A column or row beside the plane: its neighbour is in the window, and no larger than itself.
  const auto across = [&](int y, auto inside) {
    const T* const line = own + static_cast<long long>(min(max(y, 0), s.height - 1)) * s.width;
    Value v[K];
#pragma unroll
    for (int j = 0; j < K; j++) {
      if constexpr (decltype(inside)::value) {
        v[j] = P::of(line[x0 + j]);
      } else {
        v[j] = P::of(line[min(max(x0 + j, 0), s.width - 1)]);
        if (!MAX && static_cast<unsigned>(x0 + j) >= static_cast<unsigned>(s.width)) v[j] = pad;
      }
    }
#pragma unroll
    for (int j = 1; j < K; j++) v[0] = of_two<MAX>(v[0], v[j]);
    return MAX || static_cast<unsigned>(y) < static_cast<unsigned>(s.height) ? v[0] : pad;
  };
  const auto walk = [&](auto inside) {
    constexpr int kept = K > S ? K - S : 0;
    Value h[K];
    int y = from * S - s.padding;
#pragma unroll
    for (int r = 0; r < kept; r++) h[r] = across(y + r, inside);
#pragma unroll 2
    for (int n = from; n < end; n++) {
#pragma unroll
      for (int r = kept; r < K; r++) h[r] = across(y + r, inside);
      Value total = h[0];
#pragma unroll
      for (int r = 1; r < K; r++) total = of_two<MAX>(total, h[r]);
      *to = P::result(total, share);
      to += s.out_width;
      y += S;
#pragma unroll
      for (int r = 0; r < kept; r++) h[r] = h[r + S];
    }
  };
  if (x0 >= 0 && x0 + K <= s.width) walk(Known<true>());
  else walk(Known<false>());
}

}  // namespace

#define WALK(T, kind, MAX, K, S) \
  extern "C" __global__ void __launch_bounds__(pool_threads) pool_walk_##kind##_##T##_##K##_##S(const T* x, T* out, const PoolWalk s) { pool_walk<MAX, K, S>(x, out, s); }
#define WALKS(T, kind, MAX)                                                                                                                                              \
  WALK(T, kind, MAX, 2, 1) WALK(T, kind, MAX, 2, 2) WALK(T, kind, MAX, 3, 1) WALK(T, kind, MAX, 3, 2) WALK(T, kind, MAX, 3, 3) WALK(T, kind, MAX, 5, 1) WALK(T, kind, MAX, 5, 2) \
  WALK(T, kind, MAX, 5, 5) WALK(T, kind, MAX, 7, 1) WALK(T, kind, MAX, 7, 2) WALK(T, kind, MAX, 7, 7)
WALKS(f32, max, true)
WALKS(f16, max, true)
WALKS(bf16, max, true)
WALKS(f32, avg, false)
WALKS(f16, avg, false)
WALKS(bf16, avg, false)
