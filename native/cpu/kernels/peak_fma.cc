// Chains of y = y * a + b: the peak arithmetic rate. dims: [n, iterations]; the op's doc comment states the chains.
//
// As many independent chains in flight as registers hold: with a fused instruction the eight of one vector are enough;
// a multiply and an add take twice as long, so there two chains of seven vectors run side by side.
#include "simd/simd.h"

namespace {

constexpr int CHAINS = 8;

#if defined(OPSCOPE_ISA_avx512) || defined(OPSCOPE_ISA_neon)
constexpr int VECTORS = 2, TOGETHER = 8;
#elif defined(OPSCOPE_ISA_avx2)
constexpr int VECTORS = 1, TOGETHER = 8;
#else
constexpr int VECTORS = 7, TOGETHER = 2;
#endif

template <int N>
inline void chains(const V* x, V* out, int64_t iterations) {
  const V a = vset(0.999f), b = vset(0.001f);
  V sum[N];
  for (int first = 0; first < CHAINS; first += TOGETHER) {
    V y[N][TOGETHER];
#pragma GCC unroll 16
    for (int v = 0; v < N; v++)
#pragma GCC unroll 16
      for (int c = 0; c < TOGETHER; c++) y[v][c] = vadd(x[v], vset(static_cast<float>(first + c)));
    for (int64_t i = 0; i < iterations; i++) {
#pragma GCC unroll 16
      for (int v = 0; v < N; v++)
#pragma GCC unroll 16
        for (int c = 0; c < TOGETHER; c++) y[v][c] = vfma(y[v][c], a, b);
    }
#pragma GCC unroll 16
    for (int v = 0; v < N; v++) {
      V s = first == 0 ? y[v][0] : vadd(sum[v], y[v][0]);
#pragma GCC unroll 16
      for (int c = 1; c < TOGETHER; c++) s = vadd(s, y[v][c]);
      sum[v] = s;
    }
  }
#pragma GCC unroll 16
  for (int v = 0; v < N; v++) out[v] = sum[v];
}

void run(const Call& c) {
  constexpr int64_t LINES_OF_PART = 8;
  const int64_t iterations = c.dims[1];
  const float* x = input(c, 0);
  each_range_in(c, static_cast<int>(least(c.most_parts, c.dims[0] / (LINES_OF_PART * LINE * c.threads) + 1)), c.dims[0], LINE, [&](Range r) {
    int64_t i = r.begin;
    V in[VECTORS], out[VECTORS];
    for (; i + VECTORS * W <= r.end; i += VECTORS * W) {
      for (int v = 0; v < VECTORS; v++) in[v] = vload(x + i + v * W);
      chains<VECTORS>(in, out, iterations);
      for (int v = 0; v < VECTORS; v++) vstore(output(c) + i + v * W, out[v]);
    }
    for (; i < r.end; i += W) {
      const int n = static_cast<int>(least(W, r.end - i));
      in[0] = n == W ? vload(x + i) : vload_n(x + i, n, 0);
      chains<1>(in, out, iterations);
      if (n == W) vstore(output(c) + i, out[0]);
      else vstore_n(output(c) + i, out[0], n);
    }
  });
}

bool shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[1] = d[0];
  return true;
}

}  // namespace

OPSCOPE_KERNEL(peak_fma, "f>f", 2, 2, 0, shape, nullptr, run)
