// Convolutions of single planes (as many groups as channels and filters): tiles of planes in shared memory (pooling/planes.cuh), where a thread walks down a column of windows and
// reads each row of the input once; sums of several outputs are on their way. Sums in f32, in a fixed order.
//   convolution_depthwise_<t>_<rows>_<columns>_<stride>
#include "pooling/planes.cuh"

namespace {

template <int KD, int K, int S, class T>
__device__ __forceinline__ void depthwise(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ out, const PoolTile& s, int channels) {
  constexpr int ACTIVE = (KD - 1) / S;  // outputs behind the newest one that a row of the input still adds to
  extern __shared__ uint4 vectors_at[];
  const PlaneTile<T> t(x, s, vectors_at);
  float w[KD][K];
  int held = -1;  // the plane that `w` is for
  t.each_column([&](int p, int from, int end, int c, int x0, int line0) {
    if (p != held) {
      const T* filter = weight + (t.plane + p) % channels * (KD * K);
#pragma unroll
      for (int i = 0; i < KD * K; i++) w[i / K][i % K] = to_float(filter[i]);
      held = p;
    }
    bool inside[K];
#pragma unroll
    for (int j = 0; j < K; j++) inside[j] = static_cast<unsigned>(x0 + j) < static_cast<unsigned>(s.width);
    int o = (p * s.out_height + from) * s.out_width + c, y = (t.row + from) * S - s.padding_down;
    float sum[ACTIVE + 1] = {};
    for (int n = from - ACTIVE; n < end; n++) {
#pragma unroll
      for (int r = 0; r < S; r++, y++) {
        // Rows beyond the plane add nothing, and those beyond the tile only to outputs of the next one.
        if (static_cast<unsigned>(y - t.top) >= static_cast<unsigned>(t.bottom - t.top)) continue;
        const T* line = t.tile + line0 + y * s.width;
        float v[K];
#pragma unroll
        for (int j = 0; j < K; j++) v[j] = inside[j] ? to_float(line[j]) : 0.0f;
#pragma unroll
        for (int a = 0; a <= ACTIVE; a++)
#pragma unroll
          for (int j = 0; j < K; j++)
            if (a * S + r < KD) sum[a] = fmaf(w[a * S + r][j], v[j], sum[a]);
      }
      if (n >= from) {
        t.to[o] = from_float<T>(sum[ACTIVE]);
        o += s.out_width;
      }
#pragma unroll
      for (int a = ACTIVE; a > 0; a--) sum[a] = sum[a - 1];
      sum[0] = 0;
    }
  });
  t.store(out);
}

}  // namespace

#define DEPTHWISE(T, KD, K, S)                                                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(pool_tile_threads) convolution_depthwise_##T##_##KD##_##K##_##S(const T* x, const T* weight, T* out, const PoolTile s, int channels) {       \
    depthwise<KD, K, S>(x, weight, out, s, channels);                                                                                                                                    \
  }
#define DEPTHWISES(T)                                                                                                                                                  \
  DEPTHWISE(T, 3, 3, 1) DEPTHWISE(T, 3, 3, 2) DEPTHWISE(T, 5, 5, 1) DEPTHWISE(T, 5, 5, 2) DEPTHWISE(T, 7, 7, 1) DEPTHWISE(T, 1, 3, 1) DEPTHWISE(T, 1, 4, 1) DEPTHWISE(T, 1, 5, 1) \
  DEPTHWISE(T, 1, 7, 1)
DEPTHWISES(f32)
DEPTHWISES(f16)
DEPTHWISES(bf16)
