// out = sum of a[i] * b[i]. dims: [n]. Threads share the elements; their totals are added in order.
#include "simd/reduce.h"

namespace {

void run(const Call& c) {
  const Range r = part(c.dims[0], LINE, c.thread, c.threads);
  const float* const a = input(c, 0);
  const float* const b = input(c, 1);
  c.scratch[c.thread * LINE] = sum_of_pairs(a + r.begin, b + r.begin, r.end - r.begin, [](V x, V y) { return vmul(x, y); });
  if (c.threads > 1) c.barrier(c.team);
  if (c.thread != 0) return;
  float sum = 0;
  for (int t = 0; t < c.threads; t++) sum += c.scratch[t * LINE];
  *output(c) = sum;
}

bool shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[1] = d[0];
  sizes[2] = 1;
  return true;
}

size_t scratch(const int64_t*, int, int threads) { return static_cast<size_t>(threads * LINE); }

}  // namespace

OPSCOPE_KERNEL(dot, "ff>f", 1, 1, 0, shape, scratch, run)
