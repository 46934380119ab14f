#include "fill.h"

#include <cstdlib>

namespace opscope::cpu {

namespace {

inline uint32_t mix(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

inline int32_t bell(const Fill& fill, uint32_t i) {
  const uint32_t a = mix(i + fill.key0);
  const uint32_t b = mix(a ^ fill.key1);
  return static_cast<int32_t>((a & 0xffff) + (a >> 16) + (b & 0xffff) + (b >> 16)) - 131070;
}

}  // namespace

void fill_range(const Fill& fill, int64_t begin, int64_t end, float* out) {
  const float factor = fill.factor;
  if (fill.positive)
    for (int64_t i = begin; i < end; i++) out[i] = static_cast<float>(std::abs(bell(fill, static_cast<uint32_t>(i))) + 1) * factor;
  else
    for (int64_t i = begin; i < end; i++) out[i] = static_cast<float>(bell(fill, static_cast<uint32_t>(i))) * factor;
}

}  // namespace opscope::cpu
