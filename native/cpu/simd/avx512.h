#pragma once
#include <immintrin.h>

namespace {

using V = __m512;
constexpr int W = 16;

inline V vset(float x) { return _mm512_set1_ps(x); }
inline V vload(const float* p) { return _mm512_loadu_ps(p); }
inline V veven(V a, V b) { return _mm512_permutex2var_ps(a, _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31), b); }
inline void vstore(float* p, V v) { _mm512_storeu_ps(p, v); }
inline void vstream(float* p, V v) { _mm512_stream_ps(p, v); }
inline __mmask16 vmask_n(int n) { return static_cast<__mmask16>((1u << n) - 1); }
// The first n elements of v, `pad` in the others.
inline V vfirst(V v, int n, float pad) { return _mm512_mask_blend_ps(vmask_n(n), _mm512_set1_ps(pad), v); }
inline V vwiden(const F16*, __m256i half) { return _mm512_cvtph_ps(half); }
inline V vwiden(const BF16*, __m256i half) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16)); }
inline __m256i vnarrow(const F16*, V v) { return _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
inline __m256i vnarrow(const BF16*, V v) {
  const __m512i bits = _mm512_castps_si512(v), odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff))), 16);
  const __m512i quiet = _mm512_or_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(0x40));
  return _mm512_cvtepi32_epi16(_mm512_mask_blend_epi32(_mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), rounded, quiet));
}
// bf16 that the processor itself rounds to (AVX512_BF16), in one instruction instead of ten; subnormal ones become zero. Not by its intrinsic:
// it would be compiled for processors that have the instruction alone, and the rest of the file with it.
struct RoundedBF16 : BF16 {};
inline __m256i vnarrow(const RoundedBF16*, V v) {
#if defined(__GNUC__)
  __m256i narrow;
  __asm__("vcvtneps2bf16 %1, %0" : "=v"(narrow) : "v"(v));
  return narrow;
#else
  return __builtin_bit_cast(__m256i, _mm512_cvtneps_pbh(v));
#endif
}
template <class T>
inline V vload(const T* p) {
  return vwiden(p, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
template <class T>
inline void vstore(T* p, V v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), vnarrow(p, v));
}
template <class T>
inline void vstream(T* p, V v) {
  _mm256_stream_si256(reinterpret_cast<__m256i*>(p), vnarrow(p, v));
}
#if defined(__GNUC__)
inline void vstore_two(RoundedBF16* p, V low, V high) {
  __m512i narrow;
  __asm__("vcvtne2ps2bf16 %1, %2, %0" : "=v"(narrow) : "v"(low), "v"(high));
  _mm512_storeu_si512(p, narrow);
}
#endif
template <class T>
inline V vload_n(const T* p, int n, float pad) {
  return vfirst(vwiden(p, _mm256_maskz_loadu_epi16(vmask_n(n), p)), n, pad);
}
inline __mmask16 vmask_between(int from, int to) { return static_cast<__mmask16>(((1u << to) - 1) & ~((1u << from) - 1)); }
template <class T>
inline V vload_between(const T* p, int from, int to, float pad) {
  const __mmask16 mask = vmask_between(from, to);
  return _mm512_mask_blend_ps(mask, _mm512_set1_ps(pad), vwiden(p, _mm256_maskz_loadu_epi16(mask, p)));
}
template <class T>
inline void vstore_n(T* p, V v, int n) {
  _mm256_mask_storeu_epi16(p, vmask_n(n), vnarrow(p, v));
}
// The first n elements of p[0], p[stride], p[2 stride] .., zero in the other lanes.
inline V vgather(const float* p, int64_t stride, int n) {
  const __m512i places = _mm512_mullo_epi32(_mm512_set1_epi32(static_cast<int>(stride)), _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), vmask_n(n), places, p, 4);
}
inline void vfence() { _mm_sfence(); }
inline V vadd(V a, V b) { return _mm512_add_ps(a, b); }
inline V vsub(V a, V b) { return _mm512_sub_ps(a, b); }
inline V vmul(V a, V b) { return _mm512_mul_ps(a, b); }
inline V vdiv(V a, V b) { return _mm512_div_ps(a, b); }
inline V vfma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
inline V vmin(V a, V b) { return _mm512_min_ps(a, b); }
inline V vmax(V a, V b) { return _mm512_max_ps(a, b); }
inline V vsqrt(V a) { return _mm512_sqrt_ps(a); }
inline V vabs(V a) { return _mm512_abs_ps(a); }
inline V vneg(V a) { return _mm512_xor_ps(_mm512_set1_ps(-0.0f), a); }
inline V vand(V a, V b) { return _mm512_and_ps(a, b); }
inline V vxor(V a, V b) { return _mm512_xor_ps(a, b); }
inline V vsigned(V size, V sign) { return _mm512_or_ps(size, _mm512_and_ps(_mm512_set1_ps(-0.0f), sign)); }
inline V vless(V a, V b, V yes, V no) { return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), no, yes); }
inline V vsplit(V x, V* e) {
  const __m512i base = _mm512_set1_epi32(0x3f3504f3), away = _mm512_sub_epi32(_mm512_castps_si512(x), base);
  *e = _mm512_cvtepi32_ps(_mm512_srai_epi32(away, 23));
  return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_and_si512(away, _mm512_set1_epi32(0x7fffff)), base));
}
// p 2^floor(n)
inline V vldexp(V p, V n) { return _mm512_scalef_ps(p, n); }
inline void vprefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0); }
inline void vprefetch_far(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T1); }
// Each lane: the sum of it and those before it; and the last lane in all.
template <int LANES>
inline V vbehind(V v) {
  return _mm512_castsi512_ps(_mm512_alignr_epi32(_mm512_castps_si512(v), _mm512_setzero_si512(), 16 - LANES));
}
inline V vscan(V v) {
  v = _mm512_add_ps(v, vbehind<1>(v));
  v = _mm512_add_ps(v, vbehind<2>(v));
  v = _mm512_add_ps(v, vbehind<4>(v));
  return _mm512_add_ps(v, vbehind<8>(v));
}
inline V vlast(V v) { return _mm512_permutexvar_ps(_mm512_set1_epi32(15), v); }
inline float vsum(V v) { return _mm512_reduce_add_ps(v); }
// The sums of eight vectors.
inline __m256 vsums(const V (&v)[8]) {
  // Of two vectors: what is added lies at the same place of one of them and of a permutation of both.
  const auto halves = [](V a, V b) { return _mm512_add_ps(_mm512_mask_blend_ps(0xff00, a, b), _mm512_shuffle_f32x4(a, b, 0x4e)); };
  const auto quarters = [](V a, V b) { return _mm512_add_ps(_mm512_mask_blend_ps(0xf0f0, a, b), _mm512_permutex2var_ps(a, _mm512_setr_epi32(4, 5, 6, 7, 16, 17, 18, 19, 12, 13, 14, 15, 24, 25, 26, 27), b)); };
  const auto eighths = [](V a, V b) { return _mm512_add_ps(_mm512_mask_blend_ps(0xcccc, a, b), _mm512_castpd_ps(_mm512_shuffle_pd(_mm512_castps_pd(a), _mm512_castps_pd(b), 0x55))); };
  // Two lanes of each vector, in this order: 0, 4, 2, 6, 1, 5, 3, 7.
  const V all = eighths(quarters(halves(v[0], v[1]), halves(v[2], v[3])), quarters(halves(v[4], v[5]), halves(v[6], v[7])));
  const V sums = _mm512_add_ps(all, _mm512_permute_ps(all, 0xb1));
  return _mm512_castps512_ps256(_mm512_permutexvar_ps(_mm512_setr_epi32(0, 8, 4, 12, 2, 10, 6, 14, 0, 0, 0, 0, 0, 0, 0, 0), sums));
}
inline void vstore_sums(float* p, const V (&v)[8], int n) { _mm256_mask_storeu_ps(p, static_cast<__mmask8>((1u << n) - 1), vsums(v)); }
// The first n of the sums of eight vectors to p (`first`), or added to those there.
inline void vadd_sums(float* p, const V (&v)[8], int n, bool first) {
  const __mmask8 lanes = static_cast<__mmask8>((1u << n) - 1);
  const __m256 sums = vsums(v);
  _mm256_mask_storeu_ps(p, lanes, first ? sums : _mm256_add_ps(sums, _mm256_maskz_loadu_ps(lanes, p)));
}
inline float vpeak(V v) { return _mm512_reduce_max_ps(v); }
inline float vtrough(V v) { return _mm512_reduce_min_ps(v); }
using VNan = __mmask16;  // the lanes that held none
inline VNan vnan_none() { return 0xffff; }
inline VNan vnan_also(VNan seen, V a, V b) { return _mm512_mask_cmp_ps_mask(seen, a, b, _CMP_ORD_Q); }
inline bool vnan_any(VNan seen) { return seen != 0xffff; }
inline V vnan_put(V v, VNan seen) { return _mm512_mask_blend_ps(seen, _mm512_set1_ps(__builtin_nanf("")), v); }
inline bool vall_at_most(V a, V b) { return _mm512_cmp_ps_mask(a, b, _CMP_NLE_UQ) == 0; }
inline bool vany_equal(V a, V b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ) != 0; }
inline V vload_n(const float* p, int n, float pad) { return _mm512_mask_loadu_ps(_mm512_set1_ps(pad), vmask_n(n), p); }

// Floats behind the second-level cache, read by halves: beside other tensors Zen 4 reads them 1.05 to 1.1x as fast so.
struct FarFloat {
  float value;
};
inline const FarFloat* from_far(const float* p) { return reinterpret_cast<const FarFloat*>(p); }
inline V vload(const FarFloat* p) { return _mm512_insertf32x8(_mm512_castps256_ps512(_mm256_loadu_ps(&p->value)), _mm256_loadu_ps(&p->value + W / 2), 1); }
inline V vload_n(const FarFloat* p, int n, float pad) { return vload_n(&p->value, n, pad); }

inline void vstore_n(float* p, V v, int n) { _mm512_mask_storeu_ps(p, vmask_n(n), v); }
// Half a vector, or fewer lanes of it.
using VHalfLanes = __mmask8;
inline VHalfLanes vhalf_lanes(int n) { return static_cast<__mmask8>((1u << n) - 1); }
inline void vcopy_half(const float* from, float* to, VHalfLanes lanes) { _mm256_mask_storeu_ps(to, lanes, _mm256_maskz_loadu_ps(lanes, from)); }
// The lanes from `first` on of the vector at `other`, before them those at p.
using VLanes = __mmask16;
inline VLanes vlanes_from(int first) { return static_cast<__mmask16>(0xffffu << first); }
inline V vload_joined(const float* p, const float* other, VLanes lanes) { return _mm512_mask_loadu_ps(vload(p), lanes, other); }
// Up to four elements, zero in the other lanes.
inline __m128 vfour_of(const float* p, int n) { return _mm_maskz_loadu_ps(static_cast<__mmask8>(n >= 4 ? 0xf : n <= 0 ? 0 : (1 << n) - 1), p); }
inline VLanes vlanes_to(int end) { return static_cast<__mmask16>((1u << end) - 1); }
inline void vstore_masked(float* p, V v, VLanes lanes) { _mm512_mask_storeu_ps(p, lanes, v); }
// x y + sum in the register of the sum: GCC else copies some sums to others in each turn of a loop over many of them.
inline V vfma_in_place(V x, V y, V sum) {
#if defined(__GNUC__)
  __asm__("vfmadd231ps %1, %2, %0" : "+v"(sum) : "v"(y), "v"(x));
  return sum;
#else
  return vfma(x, y, sum);
#endif
}
// Elements of some lanes, zero in the others.
inline V vload_masked(const float* p, __mmask16 lanes) { return _mm512_maskz_loadu_ps(lanes, p); }
template <class T>
inline V vload_masked(const T* p, __mmask16 lanes) {
  return vwiden(p, _mm256_maskz_loadu_epi16(lanes, p));
}
inline V vload_between(const float* p, int from, int to, float pad) { return _mm512_mask_loadu_ps(_mm512_set1_ps(pad), vmask_between(from, to), p); }

}  // namespace
