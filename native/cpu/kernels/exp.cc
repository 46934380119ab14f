// out[i] = e^x[i]. dims: [n].
#include "simd/map.h"
#include "simd/math.h"

static void run(const Call& c) {
  unary(c, [](V x) { return vexp(x); });
}

OPSCOPE_KERNEL(exp, 1, 1, shape1, nullptr, run)
