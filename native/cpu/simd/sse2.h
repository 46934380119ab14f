#pragma once
#include <emmintrin.h>

namespace {

using V = __m128;
constexpr int W = 4;

inline V vset(float x) { return _mm_set1_ps(x); }
inline V vload(const float* p) { return _mm_loadu_ps(p); }
inline void vstore(float* p, V v) { _mm_storeu_ps(p, v); }
inline void vstream(float* p, V v) { _mm_stream_ps(p, v); }
inline void vfence() { _mm_sfence(); }
inline V vadd(V a, V b) { return _mm_add_ps(a, b); }
inline V vsub(V a, V b) { return _mm_sub_ps(a, b); }
inline V vmul(V a, V b) { return _mm_mul_ps(a, b); }
inline V vdiv(V a, V b) { return _mm_div_ps(a, b); }
inline V vfma(V a, V b, V c) { return _mm_add_ps(_mm_mul_ps(a, b), c); }
inline V vmin(V a, V b) { return _mm_min_ps(a, b); }
inline V vmax(V a, V b) { return _mm_max_ps(a, b); }
inline V vsqrt(V a) { return _mm_sqrt_ps(a); }
inline V vabs(V a) { return _mm_andnot_ps(_mm_set1_ps(-0.0f), a); }
inline V vneg(V a) { return _mm_xor_ps(_mm_set1_ps(-0.0f), a); }
inline V vless(V a, V b, V yes, V no) {
  const __m128 mask = _mm_cmplt_ps(a, b);
  return _mm_or_ps(_mm_and_ps(mask, yes), _mm_andnot_ps(mask, no));
}
inline V vsplit(V x, V* e) {
  const __m128i base = _mm_set1_epi32(0x3f3504f3), away = _mm_sub_epi32(_mm_castps_si128(x), base);
  *e = _mm_cvtepi32_ps(_mm_srai_epi32(away, 23));
  return _mm_castsi128_ps(_mm_add_epi32(_mm_and_si128(away, _mm_set1_epi32(0x7fffff)), base));
}
inline V vldexp(V p, V n) {
  const __m128i whole = _mm_cvtps_epi32(n), half = _mm_srai_epi32(whole, 1), bias = _mm_set1_epi32(127);
  const V first = _mm_castsi128_ps(_mm_slli_epi32(_mm_add_epi32(half, bias), 23));
  const V second = _mm_castsi128_ps(_mm_slli_epi32(_mm_add_epi32(_mm_sub_epi32(whole, half), bias), 23));
  return _mm_mul_ps(_mm_mul_ps(p, first), second);
}
inline void vprefetch(const float* p) { _mm_prefetch(reinterpret_cast<const char*>(p), _MM_HINT_T0); }
inline float vsum(V v) {
  v = _mm_add_ps(v, _mm_movehl_ps(v, v));
  return _mm_cvtss_f32(_mm_add_ss(v, _mm_shuffle_ps(v, v, 1)));
}
inline float vpeak(V v) {
  v = _mm_max_ps(v, _mm_movehl_ps(v, v));
  return _mm_cvtss_f32(_mm_max_ss(v, _mm_shuffle_ps(v, v, 1)));
}
inline float vtrough(V v) {
  v = _mm_min_ps(v, _mm_movehl_ps(v, v));
  return _mm_cvtss_f32(_mm_min_ss(v, _mm_shuffle_ps(v, v, 1)));
}
inline V vload_n(const float* p, int n, float pad) {
  alignas(16) float t[4] = {pad, pad, pad, pad};
  for (int i = 0; i < n; i++) t[i] = p[i];
  return _mm_load_ps(t);
}
inline void vstore_n(float* p, V v, int n) {
  alignas(16) float t[4];
  _mm_store_ps(t, v);
  for (int i = 0; i < n; i++) p[i] = t[i];
}

}  // namespace
