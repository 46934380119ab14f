// Elementary functions with AVX-512: shorter ones than those of math.h, by a table of sixteenth powers of two in a register. Their time
// is the number of their instructions. Constants as there.
#pragma once
#include "math.h"

namespace {

inline V vnfma(V a, V b, V c) { return _mm512_fnmadd_ps(a, b, c); }

// 2^(i / 16), and what rounding took from each, relative to it.
inline V vpowers() {
  return _mm512_setr_ps(1.0f, 1.0442737824f, 1.0905077327f, 1.1387886348f, 1.1892071150f, 1.2418578121f, 1.2968395547f, 1.3542555469f, 1.4142135624f, 1.4768261459f, 1.5422108254f, 1.6104903319f,
                        1.6817928305f, 1.7562521604f, 1.8340080864f, 1.9152065614f);
}
inline V vpowers_lost() {
  return _mm512_setr_ps(0, 4.62855e-8f, -1.19922e-8f, 4.72978e-8f, 3.19342e-8f, 3.62106e-8f, -3.09907e-8f, -7.47521e-9f, 1.71143e-8f, -3.04768e-8f, 5.23333e-9f, 6.10759e-9f, -1.47196e-8f, -5.2588e-9f, -6.12826e-9f, 5.14061e-9f);
}
// Of the lowest four bits of each element.
inline V vlookup(V bits, V table) { return _mm512_permutexvar_ps(_mm512_castps_si512(bits), table); }

// x = n ln 2 + r for multiples n of 1/16 and |r| <= ln 2 / 32. The lowest bits of `shifted` are 16 n.
struct Sixteenths {
  V shifted, n;
};
inline Sixteenths vsixteenths(V x, float per_unit) {
  const V shifted = vfma(x, vset(per_unit), vset(ROUND / 16));
  return {shifted, vsub(shifted, vset(ROUND / 16))};
}
// r within 1/16, where x is infinite or so large that n is not exact; a NaN becomes a number, and n stays one.
inline V vlimited(V r) { return _mm512_range_ps(r, vset(0.0625f), 2); }
// e^r - 1
inline V vexp_rest(V r) { return vfma(vfma(r, vset(0.16666667f), vset(0.5f)), vmul(r, r), r); }

// e^x within 1.1 ULP: 2^n (1 + (e^r - 1)). Infinity, zero and NaN as vexp_near().
inline V vexp(V x) {
  const Sixteenths s = vsixteenths(x, LOG2_E);
  const V p = vexp_rest(vlimited(vnfma(s.n, vset(LN2_LOW), vnfma(s.n, vset(LN2_HIGH), x)))), power = vlookup(s.shifted, vpowers());
  return vldexp(vfma(power, p, power), s.n);
}

// The same of x <= 0 or NaN: the exponent is added as a whole number. Zero, as a denormal number, below -87.4.
inline V vexp_falling(V x) {
  x = vmax(vset(-88.0f), x);
  const Sixteenths s = vsixteenths(x, LOG2_E);
  const V p = vexp_rest(vnfma(s.n, vset(LN2_LOW), vnfma(s.n, vset(LN2_HIGH), x)));
  const __m512i shifted = _mm512_castps_si512(s.shifted), places = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i powers = _mm512_sub_epi32(_mm512_castps_si512(vpowers()), _mm512_slli_epi32(places, 19));
  const V power = _mm512_castsi512_ps(_mm512_add_epi32(_mm512_permutexvar_epi32(shifted, powers), _mm512_slli_epi32(shifted, 19)));
  return vfma(power, p, power);
}

// Logarithm of x = 2^e m with m in [0.75, 1.5): e ln 2 - log c + log(m c), where c is about 1 / m, by the first four bits of its fraction.
// c is 1 beside 1, so that what is small keeps its digits. ln 2 and log c are cut so that their first parts add up exactly. Of 0,
// infinity, NaN and less than 0 as vlog() of math.h: both parts of the sum are infinite or none is.
inline V vlog(V x) {
  const V shares = _mm512_setr_ps(1, 0.9140625f, 0.86328125f, 0.8203125f, 0.78125f, 0.74609375f, 0.7109375f, 0.6796875f, 1.3046875f, 1.25390625f, 1.20703125f, 1.1640625f, 1.12109375f, 1.0859375f, 1.05078125f, 1);
  const V high = _mm512_setr_ps(0, 0.08984375f, 0.1470336914f, 0.198059082f, 0.246887207f, 0.2929077148f, 0.3411865234f, 0.3861083984f, -0.2659912109f, -0.2262573242f, -0.1881713867f, -0.1519165039f,
                                -0.1143188477f, -0.08245849609f, -0.04956054688f, 0);
  const V low = _mm512_setr_ps(0, 1.25791219e-5f, -1.89484444e-5f, 1.08317308e-5f, -2.71290997e-5f, -3.69841082e-6f, -1.57660347e-5f, 1.37468275e-5f, 2.76624404e-5f, -6.35443170e-6f, 7.55430057e-6f,
                               4.61880408e-7f, 1.40763762e-5f, 1.48268827e-5f, 2.66117527e-5f, 0);
  const V m = _mm512_getmant_ps(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan), e = vsub(_mm512_getexp_ps(x), _mm512_getexp_ps(m));
  const V place = _mm512_castsi512_ps(_mm512_srli_epi32(_mm512_castps_si512(m), 19));
  const V r = vfma(m, vlookup(place, shares), vset(-1));
  V p = vset(0.18872572f);
  p = vfma(p, r, vset(-0.25008379f));
  p = vfma(p, r, vset(0.33334475f));
  p = vfma(p, r, vset(-0.5f));
  const V rest = vfma(vmul(r, r), p, vfma(e, vset(1.42860677e-6f), vlookup(place, low)));
  return vadd(vfma(e, vset(0.693145751953125f), vlookup(place, high)), vadd(r, rest));
}

}  // namespace
