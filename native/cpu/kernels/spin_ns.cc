// Waits until the steady clock has moved by ns, then out[i] = x[i]. dims: [8, ns].
#include "simd/simd.h"

namespace {

constexpr int64_t ELEMENTS = 8;

void run(const Call& c) {
  if (c.thread != 0) return;
  const int64_t until = opscope_now_ns() + c.dims[1];
  while (opscope_now_ns() < until) {
  }
  for (int64_t i = 0; i < ELEMENTS; i++) output(c)[i] = input(c, 0)[i];
}

bool shape(const int64_t*, int, int64_t* sizes) {
  sizes[0] = sizes[1] = ELEMENTS;
  return true;
}

}  // namespace

OPSCOPE_KERNEL(spin_ns, "f>f", 2, 2, 0, shape, nullptr, run)
