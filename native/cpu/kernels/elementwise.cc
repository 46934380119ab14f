// Element-wise kernels, one line each (simd/table.h). The op's meaning stands in core/ops/elementwise/table.ts.
#include "simd/table.h"

// memory. Its rate is the bandwidth ceiling that other kernels are held against.
OPSCOPE_BITS(copy, x, x)

// ceiling. Reads nothing: its rate is the write ceiling.
OPSCOPE_MAP(fill, 1, (), s0)

// binary
OPSCOPE_BROADCAST(add, (V a, V b), vadd(a, b))
OPSCOPE_BROADCAST(sub, (V a, V b), vsub(a, b))
OPSCOPE_BROADCAST(mul, (V a, V b), vmul(a, b))
OPSCOPE_BROADCAST(div, (V a, V b), vdiv(a, b))

// ternary
OPSCOPE_MAP(fma, 0, (V a, V b, V c), vfma(a, b, c))
OPSCOPE_MAP(lerp, 1, (V a, V b), vfma(s0, vsub(b, a), a))
OPSCOPE_MAP(scale, 1, (V x), vmul(x, s0))
OPSCOPE_MAP(clamp, 2, (V x), vmin(s1, vmax(s0, x)))

// The logarithm within 2^-17, for 16-bit results: of x = 2^e m with m in [0.75, 1.5). Of 0, infinity, NaN and less than 0 as vlog().
#if defined(OPSCOPE_ISA_avx512)
inline V vlog_coarse(V x) {
  const V m = _mm512_getmant_ps(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan), e = vsub(_mm512_getexp_ps(x), _mm512_getexp_ps(m)), r = vsub(m, vset(1));
  V p = vset(-0.10553344f);
  p = vfma(p, r, vset(0.20457901f));
  p = vfma(p, r, vset(-0.25613302f));
  p = vfma(p, r, vset(0.33357519f));
  p = vfma(p, r, vset(-0.49987763f));
  p = vfma(p, r, vset(0.99999744f));
  return vfma(e, vset(0.69314718f), vmul(p, r));
}
#else
inline V vlog_coarse(V x) { return vlog(x); }
#endif

// Square roots by an approximation within 2^-14 and one step of Newton's method, which takes fewer cycles than the instruction: within 1.1 ULP.
#if defined(OPSCOPE_ISA_avx512)
constexpr int ZERO = 0x02 | 0x04, SUBNORMAL = 0x20, INFINITE = 0x08;
inline V vroot(V x) {
  const V r = _mm512_rsqrt14_ps(x), s = vmul(x, r);
  // 1 - s r, for x - s^2 of a small x would be subnormal. Subnormal numbers are zeros.
  const V root = vfma(_mm512_fnmadd_ps(s, r, vset(1)), vmul(s, vset(0.5f)), s), whole = _mm512_mask_mov_ps(root, _mm512_fpclass_ps_mask(x, INFINITE), x);
  return _mm512_mask_mul_ps(whole, _mm512_fpclass_ps_mask(x, ZERO | SUBNORMAL), x, vset(0));
}
inline V vreciprocal_root(V x) {
  const V r = _mm512_rsqrt14_ps(x), half = vmul(r, vset(0.5f));
  return _mm512_mask_mov_ps(vfma(_mm512_fnmadd_ps(vmul(x, r), r, vset(1)), half, r), _mm512_fpclass_ps_mask(x, ZERO | INFINITE), r);
}
#else
inline V vroot(V x) { return vsqrt(x); }
inline V vreciprocal_root(V x) { return vdiv(vset(1), vsqrt(x)); }
#endif

// unary
OPSCOPE_BITS(abs, vabs(x), vand(x, vset(bits_float(0x7fff7fff))))
OPSCOPE_BITS(neg, vneg(x), vxor(x, vset(bits_float(0x80008000))))
OPSCOPE_MAP(exp, 0, (V x), vexp(x))
OPSCOPE_COARSE(log, 0, (V x), vlog(x), vlog_coarse(x))
OPSCOPE_MAP(sqrt, 0, (V x), vroot(x))
OPSCOPE_MAP(rsqrt, 0, (V x), vreciprocal_root(x))

// activation
OPSCOPE_MAP(relu, 0, (V x), vmax(vset(0), x))
OPSCOPE_MAP(hardswish, 0, (V x), vmul(vmul(x, vmin(vset(6), vmax(vset(0), vadd(x, vset(3))))), vset(1.0f / 6)))
OPSCOPE_QUOTIENT(sigmoid, Coarse, 0, (V x), vsigmoid<Q>(x))
OPSCOPE_QUOTIENT(tanh, Coarse, 0, (V x), vtanh<Q>(x))
template <class Q>
inline V vgelu(V x) {
  return vmul(x, vnormal<Q>(x).below);
}
OPSCOPE_QUOTIENT(gelu, Coarse, 0, (V x), vgelu<Q>(x))
OPSCOPE_BROADCAST(add_gelu, (V a, V b), vgelu<Divided>(vadd(a, b)))
// (1 + tanh u) / 2 is the logistic function of 2 u, which loses nothing where tanh u nears -1; 2 sqrt(2 / pi) = 1.59576912.
OPSCOPE_QUOTIENT(gelu_tanh, Coarse, 0, (V x), vmul(x, vsigmoid<Q>(vmul(vmul(vset(1.59576912f), x), vfma(vset(0.044715f), vmul(x, x), vset(1))))))
OPSCOPE_QUOTIENT(silu, Coarse, 0, (V x), vmul(x, vsigmoid<Q>(x)))

// backward; 1 / sqrt(2 pi) = 0.398942280.
template <class Q>
inline V vgelu_slope(V x) {
  const Normal normal = vnormal<Q>(x);
  return vfma(vmul(x, vset(0.398942280f)), normal.power, normal.below);
}
OPSCOPE_QUOTIENT(gelu_backward, OfCoarsePowers, 0, (V grad, V x), vmul(grad, vgelu_slope<Q>(x)))
OPSCOPE_QUOTIENT(silu_backward, OfCoarsePowers, 0, (V grad, V x), vmul(grad, vsilu_slope<Q>(x)))

// gated
OPSCOPE_QUOTIENT(swiglu, Coarse, 0, (V a, V b), vmul(vmul(a, vsigmoid<Q>(a)), b))
