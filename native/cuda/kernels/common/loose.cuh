// Vectors of 16 bytes that do not start on 16 bytes, made of two that do.
#pragma once
#include <cstdint>

// 16 bytes from `shift` bytes, a multiple of 2, behind the start of two vectors.
__device__ __forceinline__ uint4 shifted(const uint4& a, const uint4& b, int shift) {
  uint32_t w[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
  if (shift & 8) {
#pragma unroll
    for (int i = 0; i < 6; i++) w[i] = w[i + 2];
  }
  if (shift & 4) {
#pragma unroll
    for (int i = 0; i < 5; i++) w[i] = w[i + 1];
  }
  const int bits = shift & 2 ? 16 : 0;
  return make_uint4(__funnelshift_r(w[0], w[1], bits), __funnelshift_r(w[1], w[2], bits), __funnelshift_r(w[2], w[3], bits), __funnelshift_r(w[3], w[4], bits));
}

// The 16 bytes at `from`, by whole vectors: of bytes before `least` and from `end` on, none need be right.
__device__ __forceinline__ uint4 loose_vector(const char* from, const char* least, const char* end) {
  const int shift = static_cast<int>(reinterpret_cast<uintptr_t>(from) & 15);
  const char* whole = from - shift;
  uint4 a = {}, b = {};
  if (whole + 16 > least) a = *reinterpret_cast<const uint4*>(whole);
  if (shift > 0 && whole + 16 < end) b = *reinterpret_cast<const uint4*>(whole + 16);
  return shifted(a, b, shift);
}
