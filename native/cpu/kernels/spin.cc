// out[i] = x[i] after a chain of y = y * a + b. dims: [8, iterations]; the op's doc comment in core/ops states the chain.
//
// Latency bound: no step can begin before the one before it has ended, and the vectors that hold the eight elements are
// few enough to take their steps within that wait. Fused where the instruction set fuses; else a multiply and an add.
#include "simd/simd.h"

#if defined(__x86_64__) || defined(_M_X64)
#include <emmintrin.h>
#endif

namespace {

// Waits until everything before it has been computed, for the next call would otherwise begin while this chain still runs.
inline void drain() {
#if defined(__x86_64__) || defined(_M_X64)
  _mm_lfence();
#elif defined(__aarch64__)
  __asm__ volatile("dsb sy\n\tisb" ::: "memory");
#endif
}

constexpr int ELEMENTS = 8;
constexpr int VECTORS = W < ELEMENTS ? ELEMENTS / W : 1;

inline V load(const float* x) {
  if constexpr (W > ELEMENTS) return vload_n(x, ELEMENTS, 0);
  else return vload(x);
}

inline void store(float* out, V v) {
  if constexpr (W > ELEMENTS) vstore_n(out, v, ELEMENTS);
  else vstore(out, v);
}

void run(const Call& c) {
  if (c.thread != 0) return;
  const int64_t iterations = c.dims[1];
  const V a = vset(0.999f), b = vset(0.001f);
  V y[VECTORS];
#pragma GCC unroll 8
  for (int v = 0; v < VECTORS; v++) y[v] = load(input(c, 0) + v * W);
  for (int64_t i = 0; i < iterations; i++) {
#pragma GCC unroll 8
    for (int v = 0; v < VECTORS; v++) y[v] = vfma(y[v], a, b);
  }
#pragma GCC unroll 8
  for (int v = 0; v < VECTORS; v++) store(output(c) + v * W, y[v]);
  drain();
}

// Eight elements whatever the first dim says, so that another number is refused.
bool shape(const int64_t*, int, int64_t* sizes) {
  sizes[0] = sizes[1] = ELEMENTS;
  return true;
}

}  // namespace

OPSCOPE_KERNEL(spin, "f>f", 2, 2, 0, shape, nullptr, run)
