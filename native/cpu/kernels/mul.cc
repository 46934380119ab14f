// out[i] = a[i] * b[i]. dims: [n].
#include "simd/map.h"

static void run(const Call& c) {
  binary(c, [](V a, V b) { return vmul(a, b); });
}

OPSCOPE_KERNEL(mul, 1, 2, shape2, nullptr, run)
