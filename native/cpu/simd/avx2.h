#pragma once
#include <immintrin.h>

namespace {

using V = __m256;
constexpr int W = 8;

inline V vset(float x) { return _mm256_set1_ps(x); }
inline V vload(const float* p) { return _mm256_loadu_ps(p); }
inline V veven(V a, V b) {
  const __m256d pairs = _mm256_castps_pd(_mm256_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 2, 0)));
  return _mm256_castpd_ps(_mm256_permute4x64_pd(pairs, _MM_SHUFFLE(3, 1, 2, 0)));
}
inline void vstore(float* p, V v) { _mm256_storeu_ps(p, v); }
inline void vstream(float* p, V v) { _mm256_stream_ps(p, v); }
inline __m256i vmask_n(int n) { return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)); }
// The first n elements of v, `pad` in the others.
inline V vfirst(V v, int n, float pad) { return _mm256_blendv_ps(_mm256_set1_ps(pad), v, _mm256_castsi256_ps(vmask_n(n))); }
inline V vload(const F16* p) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
inline V vload(const BF16* p) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))), 16)); }
inline __m128i vnarrow(const F16*, V v) { return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
inline __m128i vnarrow(const BF16*, V v) {
  const __m256i bits = _mm256_castps_si256(v), odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff))), 16);
  const __m256i quiet = _mm256_or_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(0x40));
  const __m256i out = _mm256_blendv_epi8(rounded, quiet, _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q)));
  return _mm_packus_epi32(_mm256_castsi256_si128(out), _mm256_extracti128_si256(out, 1));
}
template <class T>
inline void vstore(T* p, V v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), vnarrow(p, v));
}
template <class T>
inline void vstream(T* p, V v) {
  _mm_stream_si128(reinterpret_cast<__m128i*>(p), vnarrow(p, v));
}
inline void vfence() { _mm_sfence(); }
inline V vadd(V a, V b) { return _mm256_add_ps(a, b); }
inline V vsub(V a, V b) { return _mm256_sub_ps(a, b); }
inline V vmul(V a, V b) { return _mm256_mul_ps(a, b); }
inline V vdiv(V a, V b) { return _mm256_div_ps(a, b); }
inline V vfma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
inline V vmin(V a, V b) { return _mm256_min_ps(a, b); }
inline V vmax(V a, V b) { return _mm256_max_ps(a, b); }
inline V vsqrt(V a) { return _mm256_sqrt_ps(a); }
inline V vabs(V a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
inline V vneg(V a) { return _mm256_xor_ps(_mm256_set1_ps(-0.0f), a); }
inline V vand(V a, V b) { return _mm256_and_ps(a, b); }
inline V vxor(V a, V b) { return _mm256_xor_ps(a, b); }
inline V vsigned(V size, V sign) { return _mm256_or_ps(size, _mm256_and_ps(_mm256_set1_ps(-0.0f), sign)); }
inline V vless(V a, V b, V yes, V no) { return _mm256_blendv_ps(no, yes, _mm256_cmp_ps(a, b, _CMP_LT_OQ)); }
inline V vsplit(V x, V* e) {
  const __m256i base = _mm256_set1_epi32(0x3f3504f3), away = _mm256_sub_epi32(_mm256_castps_si256(x), base);
  *e = _mm256_cvtepi32_ps(_mm256_srai_epi32(away, 23));
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_and_si256(away, _mm256_set1_epi32(0x7fffff)), base));
}
inline V vldexp(V p, V n) {
  const __m256i whole = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(whole, 1), bias = _mm256_set1_epi32(127);
  const V first = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(half, bias), 23));
  const V second = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_sub_epi32(whole, half), bias), 23));
  return _mm256_mul_ps(_mm256_mul_ps(p, first), second);
}
inline void vprefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0); }
inline void vprefetch_far(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T1); }
// Each lane: the sum of it and those before it; and the last lane in all.
template <int BYTES>
inline V vbehind(V v) {
  return _mm256_castsi256_ps(_mm256_slli_si256(_mm256_castps_si256(v), BYTES));
}
inline V vscan(V v) {
  v = _mm256_add_ps(v, vbehind<4>(v));
  v = _mm256_add_ps(v, vbehind<8>(v));
  const V low = _mm256_permute2f128_ps(v, v, 0x08);  // the lower half above zeros
  return _mm256_add_ps(v, _mm256_permute_ps(low, 0xff));
}
inline V vlast(V v) { return _mm256_permutevar8x32_ps(v, _mm256_set1_epi32(7)); }
inline float vsum(V v) {
  __m128 h = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  h = _mm_add_ps(h, _mm_movehl_ps(h, h));
  return _mm_cvtss_f32(_mm_add_ss(h, _mm_shuffle_ps(h, h, 1)));
}
inline float vpeak(V v) {
  __m128 h = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  h = _mm_max_ps(h, _mm_movehl_ps(h, h));
  return _mm_cvtss_f32(_mm_max_ss(h, _mm_shuffle_ps(h, h, 1)));
}
inline float vtrough(V v) {
  __m128 h = _mm_min_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  h = _mm_min_ps(h, _mm_movehl_ps(h, h));
  return _mm_cvtss_f32(_mm_min_ss(h, _mm_shuffle_ps(h, h, 1)));
}
using VNan = V;
inline VNan vnan_none() { return _mm256_setzero_ps(); }
inline VNan vnan_also(VNan seen, V a, V b) { return _mm256_or_ps(seen, _mm256_cmp_ps(a, b, _CMP_UNORD_Q)); }
inline bool vnan_any(VNan seen) { return _mm256_movemask_ps(seen) != 0; }
inline V vnan_put(V v, VNan seen) { return _mm256_or_ps(v, seen); }
inline bool vall_at_most(V a, V b) { return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_NLE_UQ)) == 0; }
inline bool vany_equal(V a, V b) { return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_EQ_OQ)) != 0; }
inline V vload_n(const float* p, int n, float pad) {
  const __m256i mask = vmask_n(n);
  return _mm256_blendv_ps(_mm256_set1_ps(pad), _mm256_maskload_ps(p, mask), _mm256_castsi256_ps(mask));
}
inline void vstore_n(float* p, V v, int n) { _mm256_maskstore_ps(p, vmask_n(n), v); }
inline V vload_between(const float* p, int from, int to, float pad) {
  const __m256i mask = _mm256_andnot_si256(vmask_n(from), vmask_n(to));
  return _mm256_blendv_ps(_mm256_set1_ps(pad), _mm256_maskload_ps(p, mask), _mm256_castsi256_ps(mask));
}

}  // namespace
