// One float at a time; also the reference for what the wider sets must do.
#pragma once
#include <stdint.h>

namespace {

using V = float;
constexpr int W = 1;

inline V vset(float x) { return x; }
// By bytes, as the floats of map_bits are pairs of 16-bit elements, which may lie at any even address.
inline V vload(const float* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
// Of the lanes of a at p and those of b at p + W - 1: p[0], p[2], p[4] ..
inline V veven(V a, V) { return a; }
inline void vstore(float* p, V v) { __builtin_memcpy(p, &v, sizeof v); }
inline void vstream(float* p, V v) { vstore(p, v); }
inline V vload(const F16* p) { return to_float(*p); }
inline V vload(const BF16* p) { return to_float(*p); }
template <class T>
inline void vstore(T* p, V v) {
  set(p, v);
}
template <class T>
inline void vstream(T* p, V v) {
  set(p, v);
}
inline V vfirst(V, int, float pad) { return pad; }
inline void vfence() {}
inline V vadd(V a, V b) { return a + b; }
inline V vsub(V a, V b) { return a - b; }
inline V vmul(V a, V b) { return a * b; }
inline V vdiv(V a, V b) { return a / b; }
inline V vfma(V a, V b, V c) { return a * b + c; }
// Like the x86 instructions: a NaN in the second operand is kept, one in the first is lost.
inline V vmin(V a, V b) { return a < b ? a : b; }
inline V vmax(V a, V b) { return a > b ? a : b; }
inline V vsqrt(V a) { return __builtin_sqrtf(a); }
inline V vabs(V a) { return __builtin_fabsf(a); }
inline V vneg(V a) { return -a; }
// Of the bits.
inline V vand(V a, V b) { return bits_float(float_bits(a) & float_bits(b)); }
inline V vxor(V a, V b) { return bits_float(float_bits(a) ^ float_bits(b)); }
// `size`, whose sign bit is clear, with the sign bit of another.
inline V vsigned(V size, V sign) { return __builtin_copysignf(size, sign); }
// Per element: a < b ? yes : no.
inline V vless(V a, V b, V yes, V no) { return a < b ? yes : no; }
// x = m * 2^e with m in [sqrt(1/2), sqrt(2)), for normal x > 0. Unsigned, because a negative x, of which nothing is used, overflows.
inline V vsplit(V x, V* e) {
  const auto away = static_cast<int32_t>(float_bits(x) - 0x3f3504f3u);
  *e = static_cast<float>(away >> 23);
  return __builtin_bit_cast(float, (away & 0x7fffff) + 0x3f3504f3);
}
// p * 2^n for whole n in [-250, 250]: two factors, since one float's exponent reaches from -126 to 127 only.
inline V vldexp(V p, V n) {
  const int32_t whole = static_cast<int32_t>(n), half = whole >> 1;
  return p * __builtin_bit_cast(float, (half + 127) << 23) * __builtin_bit_cast(float, (whole - half + 127) << 23);
}
inline void vprefetch(const void*) {}
inline void vprefetch_far(const void*) {}
inline V vscan(V v) { return v; }
inline V vlast(V v) { return v; }
inline float vsum(V v) { return v; }
inline float vpeak(V v) { return v; }
inline float vtrough(V v) { return v; }
// Which lanes held a NaN: none yet, also those of a and b, whether there are any, and v with NaN there.
using VNan = bool;
inline VNan vnan_none() { return false; }
inline VNan vnan_also(VNan seen, V a, V b) { return seen | static_cast<bool>(__builtin_isunordered(a, b)); }
inline bool vnan_any(VNan seen) { return seen; }
inline V vnan_put(V v, VNan seen) { return seen ? __builtin_nanf("") : v; }
// Whether all lanes, or any lane, are such; NaN is not.
inline bool vall_at_most(V a, V b) { return a <= b; }
inline bool vany_equal(V a, V b) { return a == b; }
// First n (< W) elements; there are none here.
inline V vload_n(const float*, int, float pad) { return pad; }
inline void vstore_n(float*, V, int) {}
// The elements p[from] .. p[to - 1] in their lanes, `pad` in the others; from and to are at most W.
inline V vload_between(const float* p, int from, int to, float pad) { return from < to ? *p : pad; }

}  // namespace
