// out[i] = x/2 (1 + erf(x / sqrt 2)). dims: [n].
#include "simd/map.h"
#include "simd/math.h"

static void run(const Call& c) {
  unary(c, [](V x) {
    const V half = vmul(x, vset(0.5f));
    return vfma(half, verf_sqrt2(x), half);
  });
}

OPSCOPE_KERNEL(gelu, 1, 1, shape1, nullptr, run)
