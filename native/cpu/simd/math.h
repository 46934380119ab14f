// Elementary functions of a vector. Coefficients are our own least-maximum-error fits (fit_math.py).
#pragma once
#include "simd.h"

namespace {

constexpr float LOG2_E = 1.44269504f;
constexpr float LN2_HIGH = 0.693359375f;  // ten bits, so that n * LN2_HIGH is exact without a fused multiply-add
constexpr float LN2_LOW = -2.12194440e-4f;
constexpr float ROUND = 12582912.0f;  // 1.5 * 2^23: adding and subtracting it rounds to the nearest whole number

// e^x. Infinity above 88.73, zero below the smallest normal number (denormals are off), NaN for NaN.
#if defined(OPSCOPE_ISA_avx512)
// x = n ln 2 + r for multiples n of 1/16 and |r| <= ln 2 / 32, then 2^n (1 + r + r^2 P(r)); the fraction of 2^n is looked up by the low
// bits of n, and vldexp() takes the whole part. Within 1.1 ULP.
inline V vexp(V x) {
  x = vmax(vset(-104.0f), vmin(vset(89.5f), x));
  const V shifted = vfma(x, vset(LOG2_E), vset(ROUND / 16)), n = vsub(shifted, vset(ROUND / 16));
  V r = vfma(n, vset(-LN2_HIGH), x);
  r = vfma(n, vset(-LN2_LOW), r);
  const V p = vfma(vfma(r, vset(0.16666667f), vset(0.5f)), vmul(r, r), r), fraction = vsixteenth_power(shifted);
  return vldexp(vfma(fraction, p, fraction), n);
}
#else
// x = n ln 2 + r with |r| <= ln 2 / 2, then 2^n (1 + r + r^2 P(r)); |P| off by 3e-9, result within about 1 ULP.
inline V vexp(V x) {
  x = vmax(vset(-104.0f), vmin(vset(89.5f), x));
  const V n = vsub(vadd(vmul(x, vset(LOG2_E)), vset(ROUND)), vset(ROUND));
  V r = vfma(n, vset(-LN2_HIGH), x);
  r = vfma(n, vset(-LN2_LOW), r);
  V p = vset(0.0013813239f);
  p = vfma(p, r, vset(0.0083694197f));
  p = vfma(p, r, vset(0.041668456f));
  p = vfma(p, r, vset(0.16666515f));
  p = vfma(p, r, vset(0.49999994f));
  p = vfma(vmul(r, r), p, r);
  p = vadd(p, vset(1.0f));
  return vldexp(p, n);  // n reaches from -150 to 129
}
#endif

// Logarithm of x: x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), then e ln 2 + f - f^2/2 + f^3 P(f).
// -infinity for 0 (and what is smaller than the smallest normal number), NaN below, infinity and NaN for themselves.
inline V vlog(V x) {
  V e;
  const V f = vsub(vsplit(x, &e), vset(1.0f)), f2 = vmul(f, f);
  V p = vset(0.0673539858f);
  p = vfma(p, f, vset(-0.1168029442f));
  p = vfma(p, f, vset(0.118954553f));
  p = vfma(p, f, vset(-0.1240544794f));
  p = vfma(p, f, vset(0.1421862837f));
  p = vfma(p, f, vset(-0.1666796563f));
  p = vfma(p, f, vset(0.2000215795f));
  p = vfma(p, f, vset(-0.2500001072f));
  p = vfma(p, f, vset(0.3333331213f));
  V y = vfma(vmul(f, f2), p, vfma(f2, vset(-0.5f), vmul(e, vset(LN2_LOW))));
  y = vadd(vfma(e, vset(LN2_HIGH), f), y);
  y = vless(x, vset(1.17549435e-38f), vless(x, vset(0), vset(__builtin_nanf("")), vset(-__builtin_inff())), y);
  // Infinity and NaN: x itself.
  return vless(x, vset(__builtin_inff()), y, x);
}

// erf(x / sqrt 2) = x P(x^2) / Q(x^2), off by 1.3e-8 relative before rounding; |x| >= 5.4 gives 1 in f32 anyway.
inline V verf_sqrt2(V x) {
  x = vmax(vset(-5.4f), vmin(vset(5.4f), x));
  const V t = vmul(x, x);
  V p = vset(4.718205204e-08f), q = vset(1.219814408e-06f);
  p = vfma(p, t, vset(1.264715957e-05f));
  q = vfma(q, t, vset(7.116989582e-05f));
  p = vfma(p, t, vset(3.213739255e-04f));
  q = vfma(q, t, vset(1.838609343e-03f));
  p = vfma(p, t, vset(9.257826954e-03f));
  q = vfma(q, t, vset(2.817967907e-02f));
  p = vfma(p, t, vset(6.605735421e-02f));
  q = vfma(q, t, vset(2.494570762e-01f));
  p = vfma(p, t, vset(7.978845239e-01f));
  q = vfma(q, t, vset(1.0f));
  return vdiv(vmul(x, p), q);
}

// tanh x = x P(x^2) / Q(x^2), off by 2.1e-8 relative before rounding; |x| >= 9.02 gives 1 in f32 anyway.
inline V vtanh(V x) {
  x = vmax(vset(-9.02f), vmin(vset(9.02f), x));
  const V t = vmul(x, x);
  V p = vset(1.3318138005e-08f), q = vset(7.7616342470e-07f);
  p = vfma(p, t, vset(2.0582800299e-05f));
  q = vfma(q, t, vset(3.2830253053e-04f));
  p = vfma(p, t, vset(3.4939934775e-03f));
  q = vfma(q, t, vset(2.5870917809e-02f));
  p = vfma(p, t, vset(1.3379683689e-01f));
  q = vfma(q, t, vset(4.6712998973e-01f));
  p = vfma(p, t, vset(9.9999997914e-01f));
  q = vfma(q, t, vset(1.0f));
  return vdiv(vmul(x, p), q);
}

// 1 / (1 + e^-x).
inline V vsigmoid(V x) { return vdiv(vset(1), vadd(vset(1), vexp(vneg(x)))); }

// The normal distribution function, (1 + erf(x / sqrt 2)) / 2.
inline V vnormal(V x) { return vfma(vset(0.5f), verf_sqrt2(x), vset(0.5f)); }

}  // namespace
