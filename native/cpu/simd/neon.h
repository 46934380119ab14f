// Advanced SIMD of arm64, which every such processor has. Conversions of f16 are instructions of the same set.
#pragma once
#include <arm_neon.h>

namespace {

using V = float32x4_t;
constexpr int W = 4;

inline V vset(float x) { return vdupq_n_f32(x); }
inline V vload(const float* p) { return vld1q_f32(p); }
inline V veven(V a, V b) { return vuzp1q_f32(a, vextq_f32(b, b, 1)); }
inline void vstore(float* p, V v) { vst1q_f32(p, v); }
// The first n elements of v, `pad` in the others.
inline V vfirst(V v, int n, float pad) {
  const int32_t numbers[4] = {0, 1, 2, 3};
  return vbslq_f32(vcltq_s32(vld1q_s32(numbers), vdupq_n_s32(n)), v, vdupq_n_f32(pad));
}
inline V vload(const F16* p) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(&p->bits))); }
inline V vload(const BF16* p) { return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(&p->bits), 16)); }
inline void vstore(F16* p, V v) { vst1_u16(&p->bits, vreinterpret_u16_f16(vcvt_f16_f32(v))); }
inline void vstore(BF16* p, V v) {
  const uint32x4_t bits = vreinterpretq_u32_f32(v), odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
  const uint32x4_t rounded = vaddq_u32(bits, vaddq_u32(odd, vdupq_n_u32(0x7fff))), quiet = vorrq_u32(bits, vdupq_n_u32(0x400000));
  vst1_u16(&p->bits, vshrn_n_u32(vbslq_u32(vceqq_f32(v, v), rounded, quiet), 16));
}
// Advanced SIMD has no non-temporal store of its own.
template <class T>
inline void vstream(T* p, V v) {
  vstore(p, v);
}
inline void vfence() {}
inline V vadd(V a, V b) { return vaddq_f32(a, b); }
inline V vsub(V a, V b) { return vsubq_f32(a, b); }
inline V vmul(V a, V b) { return vmulq_f32(a, b); }
inline V vdiv(V a, V b) { return vdivq_f32(a, b); }
inline V vfma(V a, V b, V c) { return vfmaq_f32(c, a, b); }
// A NaN in either operand is kept.
inline V vmin(V a, V b) { return vminq_f32(a, b); }
inline V vmax(V a, V b) { return vmaxq_f32(a, b); }
inline V vsqrt(V a) { return vsqrtq_f32(a); }
inline V vabs(V a) { return vabsq_f32(a); }
inline V vneg(V a) { return vnegq_f32(a); }
inline V vand(V a, V b) { return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(a), vreinterpretq_u32_f32(b))); }
inline V vxor(V a, V b) { return vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(a), vreinterpretq_u32_f32(b))); }
inline V vsigned(V size, V sign) { return vbslq_f32(vdupq_n_u32(0x80000000), sign, size); }
inline V vless(V a, V b, V yes, V no) { return vbslq_f32(vcltq_f32(a, b), yes, no); }
inline V vsplit(V x, V* e) {
  const int32x4_t base = vdupq_n_s32(0x3f3504f3), away = vsubq_s32(vreinterpretq_s32_f32(x), base);
  *e = vcvtq_f32_s32(vshrq_n_s32(away, 23));
  return vreinterpretq_f32_s32(vaddq_s32(vandq_s32(away, vdupq_n_s32(0x7fffff)), base));
}
inline V vldexp(V p, V n) {
  const int32x4_t whole = vcvtq_s32_f32(n), half = vshrq_n_s32(whole, 1), bias = vdupq_n_s32(127);
  const V first = vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(half, bias), 23));
  const V second = vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(vsubq_s32(whole, half), bias), 23));
  return vmulq_f32(vmulq_f32(p, first), second);
}
inline void vprefetch(const void* p) { __builtin_prefetch(p); }
inline void vprefetch_far(const void* p) { __builtin_prefetch(p, 0, 2); }
// Each lane: the sum of it and those before it; and the last lane in all.
inline V vscan(V v) {
  v = vaddq_f32(v, vextq_f32(vdupq_n_f32(0), v, 3));
  return vaddq_f32(v, vextq_f32(vdupq_n_f32(0), v, 2));
}
inline V vlast(V v) { return vdupq_laneq_f32(v, 3); }
inline float vsum(V v) { return vaddvq_f32(v); }
inline float vpeak(V v) { return vmaxvq_f32(v); }
inline float vtrough(V v) { return vminvq_f32(v); }
// vmax() and vmin() keep a NaN of either operand, so nothing has to be remembered.
struct VNan {};
inline VNan vnan_none() { return {}; }
inline VNan vnan_also(VNan, V, V) { return {}; }
inline bool vnan_any(VNan) { return false; }
inline V vnan_put(V v, VNan) { return v; }
inline bool vall_at_most(V a, V b) { return vminvq_u32(vcleq_f32(a, b)) != 0; }
inline bool vany_equal(V a, V b) { return vmaxvq_u32(vceqq_f32(a, b)) != 0; }
inline V vload_n(const float* p, int n, float pad) {
  float t[4] = {pad, pad, pad, pad};
  for (int i = 0; i < n; i++) t[i] = p[i];
  return vld1q_f32(t);
}
inline void vstore_n(float* p, V v, int n) {
  float t[4];
  vst1q_f32(t, v);
  for (int i = 0; i < n; i++) p[i] = t[i];
}
inline V vload_between(const float* p, int from, int to, float pad) {
  float t[4] = {pad, pad, pad, pad};
  for (int i = from; i < to; i++) t[i] = p[i];
  return vld1q_f32(t);
}

}  // namespace
