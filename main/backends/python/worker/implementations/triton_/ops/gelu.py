"""out[i] = x/2 * (1 + erf(x / sqrt 2)), computed in f32."""
import triton
import triton.language as tl

from ..elementwise import DTYPES, elementwise, unary_kernel


@triton.jit
def precise(x):
    return 0.5 * x * (1.0 + tl.math.erf(x * 0.7071067811865476))


@triton.jit
def short(x):
    # erfc of |x| / sqrt 2 by Abramowitz & Stegun 7.1.26, off by at most 1.5e-7: far below what 16 bits hold, and cheap
    # enough to keep up with the memory at two bytes per element, which the library's erf is not.
    value = x.to(tl.float32)
    z = tl.abs(value) * 0.7071067811865476
    t = 1.0 / (1.0 + 0.3275911 * z)
    series = 1.421413741 + t * (-1.453152027 + t * 1.061405429)
    series = t * (0.254829592 + t * (-0.284496736 + t * series))
    tail = series * tl.exp(-z * z)
    return 0.5 * value * tl.where(value < 0, tail, 2.0 - tail)


def build(problem):
    return elementwise(problem, unary_kernel, precise if problem.dtype == "f32" else short)
