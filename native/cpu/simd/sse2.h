#pragma once
#include <emmintrin.h>

namespace {

using V = __m128;
constexpr int W = 4;

inline V vset(float x) { return _mm_set1_ps(x); }
inline V vload(const float* p) { return _mm_loadu_ps(p); }
inline V veven(V a, V b) { return _mm_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 2, 0)); }
inline void vstore(float* p, V v) { _mm_storeu_ps(p, v); }
inline void vstream(float* p, V v) { _mm_stream_ps(p, v); }
// The first n elements of v, `pad` in the others.
inline V vfirst(V v, int n, float pad) {
  const __m128 mask = _mm_castsi128_ps(_mm_cmpgt_epi32(_mm_set1_epi32(n), _mm_setr_epi32(0, 1, 2, 3)));
  return _mm_or_ps(_mm_and_ps(mask, v), _mm_andnot_ps(mask, _mm_set1_ps(pad)));
}
inline V vload(const BF16* p) { return _mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)))); }
// As to_float() and set(), four at a time.
inline V vload(const F16* p) {
  const __m128i half = _mm_unpacklo_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)), _mm_setzero_si128());
  const __m128i sign = _mm_slli_epi32(_mm_and_si128(half, _mm_set1_epi32(0x8000)), 16), magnitude = _mm_slli_epi32(_mm_and_si128(half, _mm_set1_epi32(0x7fff)), 13);
  const __m128i special = _mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x0f7fffff)), tiny = _mm_cmpgt_epi32(_mm_set1_epi32(0x00800000), magnitude);
  const __m128i normal = _mm_add_epi32(_mm_add_epi32(magnitude, _mm_set1_epi32(0x38000000)), _mm_and_si128(special, _mm_set1_epi32(0x38000000)));
  const __m128i base = _mm_set1_epi32(0x38800000);
  const __m128i small = _mm_castps_si128(_mm_sub_ps(_mm_castsi128_ps(_mm_add_epi32(magnitude, base)), _mm_castsi128_ps(base)));
  return _mm_castsi128_ps(_mm_or_si128(sign, _mm_or_si128(_mm_and_si128(tiny, small), _mm_andnot_si128(tiny, normal))));
}
// The lower halves of four elements, next to one another.
inline void vstore_low_halves(void* p, __m128i v) {
  v = _mm_srai_epi32(_mm_slli_epi32(v, 16), 16);
  _mm_storel_epi64(static_cast<__m128i*>(p), _mm_packs_epi32(v, v));
}
inline __m128i vpick(__m128i mask, __m128i yes, __m128i no) { return _mm_or_si128(_mm_and_si128(mask, yes), _mm_andnot_si128(mask, no)); }
inline void vstore(BF16* p, V v) {
  const __m128i bits = _mm_castps_si128(v), odd = _mm_and_si128(_mm_srli_epi32(bits, 16), _mm_set1_epi32(1));
  const __m128i rounded = _mm_srli_epi32(_mm_add_epi32(bits, _mm_add_epi32(odd, _mm_set1_epi32(0x7fff))), 16);
  const __m128i quiet = _mm_or_si128(_mm_srli_epi32(bits, 16), _mm_set1_epi32(0x40));
  vstore_low_halves(p, vpick(_mm_castps_si128(_mm_cmpunord_ps(v, v)), quiet, rounded));
}
inline void vstore(F16* p, V v) {
  const __m128i bits = _mm_castps_si128(v), sign = _mm_and_si128(_mm_srli_epi32(bits, 16), _mm_set1_epi32(0x8000)), magnitude = _mm_and_si128(bits, _mm_set1_epi32(0x7fffffff));
  const __m128i half = _mm_set1_epi32(0x3f000000), odd = _mm_and_si128(_mm_srli_epi32(magnitude, 13), _mm_set1_epi32(1));
  const __m128i normal = _mm_srli_epi32(_mm_sub_epi32(_mm_add_epi32(magnitude, _mm_add_epi32(odd, _mm_set1_epi32(0xfff))), _mm_set1_epi32(0x38000000)), 13);
  const __m128i tiny = _mm_sub_epi32(_mm_castps_si128(_mm_add_ps(_mm_castsi128_ps(magnitude), _mm_castsi128_ps(half))), half);
  __m128i out = vpick(_mm_cmpgt_epi32(_mm_set1_epi32(0x38800000), magnitude), tiny, normal);
  out = vpick(_mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x477fefff)), _mm_set1_epi32(0x7c00), out);
  out = vpick(_mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x7f800000)), _mm_set1_epi32(0x7e00), out);
  vstore_low_halves(p, _mm_or_si128(sign, out));
}
template <class T>
inline void vstream(T* p, V v) {
  vstore(p, v);
}
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
inline V vand(V a, V b) { return _mm_and_ps(a, b); }
inline V vxor(V a, V b) { return _mm_xor_ps(a, b); }
inline V vsigned(V size, V sign) { return _mm_or_ps(size, _mm_and_ps(_mm_set1_ps(-0.0f), sign)); }
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
inline void vprefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0); }
inline void vprefetch_far(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T1); }
// Each lane: the sum of it and those before it; and the last lane in all.
inline V vscan(V v) {
  v = _mm_add_ps(v, _mm_castsi128_ps(_mm_slli_si128(_mm_castps_si128(v), 4)));
  return _mm_add_ps(v, _mm_castsi128_ps(_mm_slli_si128(_mm_castps_si128(v), 8)));
}
inline V vlast(V v) { return _mm_shuffle_ps(v, v, 0xff); }
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
using VNan = V;
inline VNan vnan_none() { return _mm_setzero_ps(); }
inline VNan vnan_also(VNan seen, V a, V b) { return _mm_or_ps(seen, _mm_cmpunord_ps(a, b)); }
inline bool vnan_any(VNan seen) { return _mm_movemask_ps(seen) != 0; }
inline V vnan_put(V v, VNan seen) { return _mm_or_ps(v, seen); }
inline bool vall_at_most(V a, V b) { return _mm_movemask_ps(_mm_cmpnle_ps(a, b)) == 0; }
inline bool vany_equal(V a, V b) { return _mm_movemask_ps(_mm_cmpeq_ps(a, b)) != 0; }
inline V vload_n(const float* p, int n, float pad) {
  // By bytes: pairs of 16-bit elements, moved as floats are, start on two.
  alignas(16) float t[4] = {pad, pad, pad, pad};
  for (int i = 0; i < n; i++) __builtin_memcpy(t + i, reinterpret_cast<const char*>(p) + 4 * i, 4);
  return _mm_load_ps(t);
}
inline void vstore_n(float* p, V v, int n) {
  alignas(16) float t[4];
  _mm_store_ps(t, v);
  for (int i = 0; i < n; i++) __builtin_memcpy(reinterpret_cast<char*>(p) + 4 * i, t + i, 4);
}
inline V vload_between(const float* p, int from, int to, float pad) {
  alignas(16) float t[4] = {pad, pad, pad, pad};
  for (int i = from; i < to; i++) t[i] = p[i];
  return _mm_load_ps(t);
}

}  // namespace
