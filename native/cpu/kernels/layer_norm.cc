// Layer normalisation with weight and bias over the last axis. dims: [tokens, dim]; scalars: [eps].
//
// Mean, then the sum of squared distances from it (two passes: no cancellation), then the result; a token's row stays
// in cache between the passes. Threads share the tokens.
#include "simd/map.h"
#include "simd/reduce.h"

namespace {

template <bool STREAM>
void normalise(const float* x, const float* weight, const float* bias, float mean, float factor, float* out, int64_t n) {
  const V m = vset(mean), f = vset(factor);
  int64_t i = 0;
  for (; i + 2 * W <= n; i += 2 * W) {
    // Beyond the caches, the next row is fetched while this one is written.
    if constexpr (STREAM)
      for (int64_t ahead = 0; ahead < 2 * W; ahead += LINE) vprefetch(x + n + i + ahead);
    const V a = vmul(vsub(vload(x + i), m), f), b = vmul(vsub(vload(x + i + W), m), f);
    put<STREAM>(out + i, vfma(a, vload(weight + i), vload(bias + i)));
    put<STREAM>(out + i + W, vfma(b, vload(weight + i + W), vload(bias + i + W)));
  }
  for (; i + W <= n; i += W) put<STREAM>(out + i, vfma(vmul(vsub(vload(x + i), m), f), vload(weight + i), vload(bias + i)));
  if (i < n) {
    const int rest = static_cast<int>(n - i);
    const V a = vmul(vsub(vload_n(x + i, rest, 0), m), f);
    vstore_n(out + i, vfma(a, vload_n(weight + i, rest, 0), vload_n(bias + i, rest, 0)), rest);
  }
}

void run(const Call& c) {
  const int64_t dim = c.dims[1];
  const bool stream = c.stream && dim % LINE == 0;
  const Range r = part(c.dims[0], 1, c.thread, c.threads);
  for (int64_t token = r.begin; token < r.end; token++) {
    const float* x = input(c, 0) + token * dim;
    float* out = output(c) + token * dim;
    const float mean = sum_of(x, dim, [](V v) { return v; }) / static_cast<float>(dim);
    const V m = vset(mean);
    const float squares = sum_of(x, dim, [m](V v) {
      const V away = vsub(v, m);
      return vmul(away, away);
    });
    const float factor = 1 / __builtin_sqrtf(squares / static_cast<float>(dim) + static_cast<float>(c.scalars[0]));
    if (stream) normalise<true>(x, input(c, 1), input(c, 2), mean, factor, out, dim);
    else normalise<false>(x, input(c, 1), input(c, 2), mean, factor, out, dim);
  }
  vfence();
}

bool shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[3] = times(d[0], d[1]);
  sizes[1] = sizes[2] = d[1];
  return true;
}

}  // namespace

OPSCOPE_KERNEL(layer_norm, "fff>f", 2, 2, 1, shape, nullptr, run)
