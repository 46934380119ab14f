// f32 values rounded to the narrow storage types, to nearest even, as core/numbers.ts does.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace opscope::cpu {

inline uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

inline uint16_t to_f16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);
  if (magnitude >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);
  // Subnormal or zero: adding 0.5 makes the adder round at bit 2^-24.
  if (magnitude < 0x38800000) return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(std::fabs(value) + 0.5f) - 0x3f000000));
  return static_cast<uint16_t>(sign | (magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000) >> 13);
}

// OCP E4M3: saturates at 448, has no infinity.
inline uint8_t to_e4m3(float value) {
  if (std::isnan(value)) return 0x7f;
  const uint32_t sign = std::bit_cast<uint32_t>(value) >> 24 & 0x80;
  const float magnitude = std::min(std::fabs(value), 448.0f);
  // Below 2^-6 the spacing is that of subnormals, 2^-9.
  const int exponent = magnitude < 0x1p-6f ? -6 : std::ilogb(magnitude);
  const auto steps = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, 3 - exponent)));
  // A carry into the next exponent falls out of the addition.
  const uint32_t bits = exponent == -6 ? steps : static_cast<uint32_t>(exponent + 7) * 8 + steps - 8;
  return static_cast<uint8_t>(sign | std::min(bits, 0x7eu));
}

}  // namespace opscope::cpu
