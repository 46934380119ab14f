// The functions of activations, which end with a quotient. How it is made, and with how many digits, is a parameter. Coefficients are our own fits (fit_math.py).
#pragma once
#include "math.h"

namespace {

// The normal distribution function, and e^(-x^2 / 2), of which it is made.
struct Normal {
  V below, power;
};

// How quotients a / b of b >= 1, which may be infinite, are made: by the instruction,
struct Divided {
  static constexpr bool COARSE = false;
  static inline V inverse(V b) { return vdiv(vset(1), b); }
  static inline V quotient(V a, V b) { return vdiv(a, b); }
};
#if defined(OPSCOPE_ISA_avx512)
// the same of powers of two within 2^-18, for slopes of 16-bit elements, which are small differences where they change their sign,
struct OfCoarsePowers : Divided {
  static constexpr bool COARSE = true;
};
// or by an approximation within 2^-14, for other results of 16 bits.
struct Coarse : OfCoarsePowers {
  static inline V inverse(V b) { return _mm512_rcp14_ps(b); }
  static inline V quotient(V a, V b) { return vmul(a, _mm512_rcp14_ps(b)); }
};

// e^-x; of two floats where not coarse, as the exponential of 1.1 ULP is not enough. Signs are those of -r.
template <class Q>
inline V vexp_negative(V x) {
  const Sixteenths s = vsixteenths(x, -LOG2_E);
  const V power = vlookup(s.shifted, vpowers());
  if constexpr (Q::COARSE) {
    const V r = vlimited(vfma(s.n, vset(LN2_HIGH + LN2_LOW), x)), p = vmul(r, vfma(r, vset(-0.5f), vset(1)));
    return vldexp(vnfma(power, p, power), s.n);
  } else {
    const V r = vlimited(vfma(s.n, vset(LN2_LOW), vfma(s.n, vset(LN2_HIGH), x)));
    const V p = vsub(vfma(vfma(r, vset(0.16666667f), vset(-0.5f)), vmul(r, r), r), vlookup(s.shifted, vpowers_lost()));
    return vldexp(vnfma(power, p, power), s.n);
  }
}

// As below; 2 |x| = n ln 2 + 2 r, where n is at most 26, so that ln 2 needs no second float. The lowest bits of `shifted` are the
// exponent of 2^(n + 1).
template <class Q>
inline V vtanh(V x) {
  constexpr float BIASED = ROUND + 128;
  const V size = vmin(vset(9.02f), vabs(x)), shifted = vfma(size, vset(2 * LOG2_E), vset(BIASED)), n = vsub(shifted, vset(BIASED)), r = vnfma(n, vset(0.34657359f), size);
  V p = vset(32 * 0.0013813239f);
  p = vfma(p, r, vset(16 * 0.0083694197f));
  p = vfma(p, r, vset(8 * 0.041668456f));
  p = vfma(p, r, vset(4 * 0.16666515f));
  p = vfma(p, r, vset(2 * 0.49999994f));
  // e^2r - 1 is twice this.
  p = vfma(vmul(r, r), p, r);
  const V twice = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(shifted), 23)), t = vfma(twice, p, vfma(twice, vset(0.5f), vset(-1))), size_of = Q::quotient(t, vadd(t, vset(2)));
  return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(_mm512_castps_si512(size_of), _mm512_castps_si512(x), _mm512_set1_epi32(INT32_MIN), 0xd8));
}

// As below with P / Q off by 1.4e-7 up to 3.3 and 1.4e-6 beyond (coarse: 9.5e-6 up to 3.5 and 9.5e-5); e^(-x^2 / 2) = e^(-u / 2) 2^n with
// x^2 = u - 2 n ln 2. Zero from 14 on.
template <class Q>
inline Normal vnormal(V x) {
  const V a = vmin(vset(14.0f), vabs(x)), square = vmul(a, a);
  const Sixteenths s = vsixteenths(square, -0.5f * LOG2_E);
  const V u = vfma(s.n, vset(1.3862943611f), square), sixteenth = vlookup(s.shifted, vpowers());
  const V q = Q::COARSE ? vfma(u, vset(0.125f), vset(-0.5f)) : vfma(u, vfma(u, vset(-1.0f / 48), vset(0.125f)), vset(-0.5f));
  const V power = vldexp(vfma(sixteenth, vmul(u, q), sixteenth), s.n);
  V p = vset(Q::COARSE ? 0.05614055643f : 0.01532575394f), d = vset(Q::COARSE ? 0.1404182132f : 0.03842416826f);
  if constexpr (Q::COARSE) {
    p = vfma(p, a, vset(0.26315960023f));
    d = vfma(d, a, vset(0.66720623711f));
    p = vfma(p, a, vset(0.50000472708f));
    d = vfma(d, a, vset(1.32453865641f));
  } else {
    p = vfma(p, a, vset(0.1122973892f));
    d = vfma(d, a, vset(0.2811861951f));
    p = vfma(p, a, vset(0.3494742599f));
    d = vfma(d, a, vset(0.9189550929f));
    p = vfma(p, a, vset(0.499999934f));
    d = vfma(d, a, vset(1.496825699f));
  }
  d = vfma(d, a, vset(1.0f));
  const V tail = Q::quotient(vmul(power, p), d);
  const auto negative = _mm512_cmp_ps_mask(x, vset(0), _CMP_LT_OQ);
  return {_mm512_mask_sub_ps(tail, static_cast<__mmask16>(~negative), vset(1), tail), power};
}

#else

using OfCoarsePowers = Divided;
using Coarse = Divided;

// e^-x within 1 ULP.
template <class Q>
inline V vexp_negative(V x) {
  return vexp_near(vneg(x));
}

// tanh |x| = t / (t + 2) with t = e^2|x| - 1 = 2^n (e^r - 1) + (2^n - 1), which cancels nowhere; |x| >= 9.02 gives 1 in f32 anyway.
template <class Q>
inline V vtanh(V x) {
  V n;
  const V size = vmin(vset(9.02f), vabs(x));
  const V p = vexp_parts(vadd(size, size), &n), power = vldexp(vset(1.0f), n), t = vfma(power, p, vsub(power, vset(1.0f)));
  return vsigned(vdiv(t, vadd(t, vset(2.0f))), x);
}

// The normal distribution function of -|x| is e^(-x^2 / 2) P(|x|) / Q(|x|), which keeps its
// digits where 1 + erf cancels; P / Q is off by 5.2e-9 relative up to 13.5, beyond which the power is zero.
template <class>
inline Normal vnormal(V x) {
  const V square = vmul(x, x), lost = vfma(x, x, vneg(square));  // nothing where the multiplication is not fused
  V power = vexp(vmul(vset(-0.5f), square));
  power = vless(square, vset(1e4f), vfma(power, vmul(vset(-0.5f), lost), power), power);
  const V a = vmin(vset(13.5f), vabs(x));
  V p = vset(0.004037020945f), q = vset(0.01011917202f);
  p = vfma(p, a, vset(0.04009824982f));
  q = vfma(q, a, vset(0.100518616f));
  p = vfma(p, a, vset(0.1816464509f));
  q = vfma(q, a, vset(0.4652768446f));
  p = vfma(p, a, vset(0.4361471722f));
  q = vfma(q, a, vset(1.195898913f));
  p = vfma(p, a, vset(0.5000000026f));
  q = vfma(q, a, vset(1.670179274f));
  q = vfma(q, a, vset(1.0f));
  const V tail = vmul(power, vdiv(p, q));
  return {vless(x, vset(0), tail, vsub(vset(1.0f), tail)), power};
}
#endif

// 1 / (1 + e^-x), within 2.5 ULP.
template <class Q>
inline V vsigmoid(V x) {
  return Q::inverse(vadd(vset(1), vexp_negative<Q>(x)));
}

// The derivative of x / (1 + e^-x): s (1 + x (1 - s)) with the logistic function s, where 1 - s is e^-x s and keeps its digits so.
template <class Q>
inline V vsilu_slope(V x) {
  const V power = vmin(vset(1.7e38f), vexp_negative<Q>(x)), s = Q::inverse(vadd(vset(1), power));
  return vmul(s, vfma(x, vmul(power, s), vset(1)));
}

}  // namespace
