// Elementary functions of a vector. Coefficients are our own least-maximum-error fits (fit_math.py).
#pragma once
#include "simd.h"

namespace {

constexpr float LOG2_E = 1.44269504f;
constexpr float LN2_HIGH = 0.693359375f;  // ten bits, so that n * LN2_HIGH is exact without a fused multiply-add
constexpr float LN2_LOW = -2.12194440e-4f;
constexpr float ROUND = 12582912.0f;  // 1.5 * 2^23: adding and subtracting it rounds to the nearest whole number

// e^r - 1 and n of x = n ln 2 + r with |r| <= ln 2 / 2: r + r^2 P(r); |P| off by 3e-9 relative to e^r.
inline V vexp_parts(V x, V* n) {
  *n = vsub(vadd(vmul(x, vset(LOG2_E)), vset(ROUND)), vset(ROUND));
  V r = vfma(*n, vset(-LN2_HIGH), x);
  r = vfma(*n, vset(-LN2_LOW), r);
  V p = vset(0.0013813239f);
  p = vfma(p, r, vset(0.0083694197f));
  p = vfma(p, r, vset(0.041668456f));
  p = vfma(p, r, vset(0.16666515f));
  p = vfma(p, r, vset(0.49999994f));
  return vfma(vmul(r, r), p, r);
}

// e^x = 2^n (1 + (e^r - 1)), within 1 ULP. Infinity above 88.73, zero below the smallest normal number (denormals are off), NaN for NaN.
inline V vexp_near(V x) {
  V n;
  const V p = vexp_parts(vmax(vset(-104.0f), vmin(vset(89.5f), x)), &n);
  return vldexp(vadd(p, vset(1.0f)), n);  // n reaches from -150 to 129
}

#if !defined(OPSCOPE_ISA_avx512)
inline V vexp(V x) { return vexp_near(x); }
// The same of x <= 0 or NaN, where an instruction set has a faster one.
inline V vexp_falling(V x) { return vexp_near(x); }
#endif

#if !defined(OPSCOPE_ISA_avx512)
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
  // The small ones first: one rounding as large as the result.
  y = vfma(e, vset(LN2_HIGH), vadd(f, y));
  y = vless(x, vset(1.17549435e-38f), vless(x, vset(0), vset(__builtin_nanf("")), vset(-__builtin_inff())), y);
  // Infinity and NaN: x itself.
  return vless(x, vset(__builtin_inff()), y, x);
}
#endif

}  // namespace

#if defined(OPSCOPE_ISA_avx512)
#include "math512.h"
#endif
