// out[i] = 0 with probability p, else x[i] / (1 - p): which elements, core/ops/dropout/op.ts states. 16 bytes per thread, or two or four times as many.
#include "common/vec.cuh"

namespace {

// In one instruction, where the compiler would take one for each half.
__device__ __forceinline__ unsigned long long whole_product(unsigned a, unsigned b) {
  unsigned long long product;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
  return product;
}

// Philox 4x32-10 (core/values/random.ts) of counters [low, high, 0, 0] and key [seed, 0]. In its first two rounds a product is of zero, and one the same for all counters with the same `high`.
struct Philox {
  static constexpr unsigned first = 0xd2511f53u, second = 0xcd9e8d57u, weyl0 = 0x9e3779b9u, weyl1 = 0xbb67ae85u;
  unsigned seed;
  unsigned long long shared;

  __device__ __forceinline__ Philox(unsigned long long counter, unsigned key) : seed(key), shared(whole_product(first, static_cast<unsigned>(counter >> 32) ^ key)) {}
  __device__ __forceinline__ uint4 words(unsigned low) const {
    const unsigned long long start = whole_product(first, low), next = whole_product(second, static_cast<unsigned>(start >> 32));
    uint4 c = make_uint4(static_cast<unsigned>(next >> 32) ^ (seed + weyl0), static_cast<unsigned>(next), static_cast<unsigned>(start) ^ (static_cast<unsigned>(shared >> 32) ^ weyl1), static_cast<unsigned>(shared));
    unsigned key0 = seed + 2 * weyl0, key1 = 2 * weyl1;
#pragma unroll
    for (int round = 2; round < 10; round++) {
      const unsigned long long product0 = whole_product(first, c.x), product1 = whole_product(second, c.z);
      c = make_uint4(static_cast<unsigned>(product1 >> 32) ^ c.y ^ key0, static_cast<unsigned>(product1), static_cast<unsigned>(product0 >> 32) ^ c.w ^ key1, static_cast<unsigned>(product0));
      key0 += weyl0;
      key1 += weyl1;
    }
    return c;
  }
};

// Which elements stay, and what they become (dropout.plan.cc): those whose word is at least `least`, times `factor`.
struct Dropout {
  float factor;
  unsigned least;

  __device__ __forceinline__ float of(float value, unsigned word) const { return word < least ? 0.0f : value * factor; }

  // Elements i .. of one vector.
  template <class T>
  __device__ __forceinline__ uint4 of_vector(const uint4& own, long long i, unsigned key) const {
    constexpr int L = LANES<T>;
    unsigned word[L];
    // A vector does not lie across a change of the counter's upper half.
    const auto counter = static_cast<unsigned long long>(i) / 4;
    const Philox philox(counter, key);
#pragma unroll
    for (int j = 0; j < L; j += 4) {
      const uint4 w = philox.words(static_cast<unsigned>(counter) + j / 4);
      word[j] = w.x, word[j + 1] = w.y, word[j + 2] = w.z, word[j + 3] = w.w;
    }
    float f[L];
    unpack<T>(own, f);
#pragma unroll
    for (int j = 0; j < L; j++) f[j] = of(f[j], word[j]);
    return pack<T>(f);
  }

  template <class T>
  __device__ __forceinline__ T of_element(T own, long long i, unsigned key) const {
    const auto counter = static_cast<unsigned long long>(i) / 4;
    const uint4 w = Philox(counter, key).words(static_cast<unsigned>(counter));
    return from_float<T>(of(to_float(own), i % 4 == 0 ? w.x : i % 4 == 1 ? w.y : i % 4 == 2 ? w.z : w.w));
  }
};

template <class T>
__device__ __forceinline__ void dropout(const T* __restrict__ x, T* __restrict__ out, long long n, Dropout drop, const unsigned* seed) {
  constexpr int L = LANES<T>;
  const long long t = thread_of_grid(), i = t * L;
  if (i + L <= n) {
    const uint4 own = load16(x + i);
    store16(out + i, drop.of_vector<T>(own, i, *seed));
  } else if (const long long j = element_behind<T>(t, n); j < n) {
    const T own = x[j];
    out[j] = drop.of_element(own, j, *seed);
  }
}

// V vectors of a thread, THREADS apart, so that some are read while words of others are made. The elements behind the last vector are the first block's.
template <int V, int THREADS, class T>
__device__ __forceinline__ void dropout_several(const T* __restrict__ x, T* __restrict__ out, long long n, Dropout drop, const unsigned* seed) {
  constexpr int L = LANES<T>;
  const long long vectors = n / L, first = static_cast<long long>(blockIdx.x) * (V * THREADS) + threadIdx.x;
  const unsigned key = *seed;
  uint4 own[V];
#pragma unroll
  for (int v = 0; v < V; v++)
    if (first + v * THREADS < vectors) own[v] = load16(x + (first + v * THREADS) * L);
#pragma unroll
  for (int v = 0; v < V; v++)
    if (first + v * THREADS < vectors) store16(out + (first + v * THREADS) * L, drop.of_vector<T>(own[v], (first + v * THREADS) * L, key));
  if (const long long j = vectors * L + threadIdx.x; blockIdx.x == 0 && j < n) out[j] = drop.of_element(x[j], j, key);
}

// The same of whole blocks: what is done for elements behind the last vector costs others registers (bf16 16M on an H200: 19.6 and 18.6 us).
template <int V, int THREADS, class T>
__device__ __forceinline__ void dropout_whole(const T* __restrict__ x, T* __restrict__ out, long long, Dropout drop, const unsigned* seed) {
  constexpr int L = LANES<T>;
  const unsigned key = *seed, first = blockIdx.x * (V * THREADS) + threadIdx.x;
  uint4 own[V];
#pragma unroll
  for (int v = 0; v < V; v++) own[v] = load16(x + static_cast<long long>(first + v * THREADS) * L);
#pragma unroll
  for (int v = 0; v < V; v++) store16(out + static_cast<long long>(first + v * THREADS) * L, drop.of_vector<T>(own[v], static_cast<long long>(first + v * THREADS) * L, key));
}

}  // namespace

#define DROPOUT(T, name, threads, ...) \
  extern "C" __global__ void __launch_bounds__(threads) name##_##T(const T* x, T* out, long long n, float factor, unsigned least, const unsigned* seed) { __VA_ARGS__(x, out, n, {factor, least}, seed); }
#define SEVERAL(T) DROPOUT(T, dropout_two, 256, dropout_several<2, 256>) DROPOUT(T, dropout_four, 128, dropout_several<4, 128>) DROPOUT(T, dropout_whole, 256, dropout_whole<2, 256>)
DROPOUT(f32, dropout, 256, dropout)
DROPOUT(f16, dropout, 256, dropout)
DROPOUT(bf16, dropout, 256, dropout)
SEVERAL(f16)
SEVERAL(bf16)
