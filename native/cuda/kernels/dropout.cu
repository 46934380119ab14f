// out[i] = 0 with probability p, else x[i] / (1 - p): which elements, core/ops/dropout/op.ts states. 16 bytes per thread.
#include "common/vec.cuh"

namespace {

// Philox 4x32-10 (core/philox.ts) of counter [low, high, 0, 0] and key [seed, 0].
__device__ __forceinline__ uint4 philox(unsigned long long counter, unsigned seed) {
  uint4 c = make_uint4(static_cast<unsigned>(counter), static_cast<unsigned>(counter >> 32), 0, 0);
  unsigned key0 = seed, key1 = 0;
#pragma unroll
  for (int round = 0; round < 10; round++) {
    const unsigned high0 = __umulhi(0xd2511f53u, c.x), high1 = __umulhi(0xcd9e8d57u, c.z);
    c = make_uint4(high1 ^ c.y ^ key0, 0xcd9e8d57u * c.z, high0 ^ c.w ^ key1, 0xd2511f53u * c.x);
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return c;
}

template <class T>
__device__ __forceinline__ void dropout(const T* __restrict__ x, T* __restrict__ out, long long n, float p, const unsigned* seed) {
  constexpr int L = LANES<T>;
  // The upper 24 bits of a word against p, as whole numbers: p below 1 leaves room for the shift.
  const float factor = 1.0f / (1.0f - p);
  const unsigned least = p < 1.0f ? __float2uint_ru(p * 16777216.0f) << 8 : ~0u;
  const auto kept = [&](float value, unsigned word) { return word < least ? 0.0f : value * factor; };
  const long long t = thread_of_grid(), i = t * L;
  if (i + L <= n) {
    const uint4 own = load16(x + i);
    const unsigned key = *seed;
    unsigned word[L];
#pragma unroll
    for (int j = 0; j < L; j += 4) {
      const uint4 w = philox(static_cast<unsigned long long>(i + j) / 4, key);
      word[j] = w.x, word[j + 1] = w.y, word[j + 2] = w.z, word[j + 3] = w.w;
    }
    float f[L];
    unpack<T>(own, f);
#pragma unroll
    for (int j = 0; j < L; j++) f[j] = kept(f[j], word[j]);
    store16(out + i, pack<T>(f));
  } else if (const long long j = element_behind<T>(t, n); j < n) {
    const float value = to_float(x[j]);
    const uint4 w = philox(static_cast<unsigned long long>(j) / 4, *seed);
    out[j] = from_float<T>(kept(value, j % 4 == 0 ? w.x : j % 4 == 1 ? w.y : j % 4 == 2 ? w.z : w.w));
  }
}

}  // namespace

#define DROPOUT(T) \
  extern "C" __global__ void __launch_bounds__(256) dropout_##T(const T* x, T* out, long long n, float p, const unsigned* seed) { dropout(x, out, n, p, seed); }
DROPOUT(f32)
DROPOUT(f16)
DROPOUT(bf16)
