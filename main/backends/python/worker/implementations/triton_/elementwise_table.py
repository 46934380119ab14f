"""The expression of each element-wise operation, once: values in f32, then the scalars of the case. Meanings: core/ops.

A function here is an operation, found by its name. One that ends in _16 takes its place in f16 and bf16; one that begins with _ is part of others.
"""
# The expressions are one line each, and compiled from their source text.
# fmt: off
import triton
import triton.language as tl


def _sigmoid(x): return 1.0 / (1.0 + tl.exp(-x))
def _normal_cdf(x): return 0.5 * (1.0 + tl.math.erf(x * 0.7071067811865476))


def _normal_cdf_16(x):
    # erfc of |x| / sqrt 2 by Abramowitz & Stegun 7.1.26, off by at most 1.5e-7: far below what 16 bits hold, and cheap
    # enough to keep up with the memory at two bytes per element, which the library's erf is not.
    z = tl.abs(x) * 0.7071067811865476
    t = 1.0 / (1.0 + 0.3275911 * z)
    series = 1.421413741 + t * (-1.453152027 + t * 1.061405429)
    series = t * (0.254829592 + t * (-0.284496736 + t * series))
    tail = series * tl.exp(-z * z)
    return 0.5 * tl.where(x < 0, tail, 2.0 - tail)


def copy(x): return x
def add(a, b): return a + b
def sub(a, b): return a - b
def mul(a, b): return a * b
def div(a, b): return a / b
def fma(a, b, c): return a * b + c
def lerp(a, b, weight): return a + weight * (b - a)
def scale(x, factor): return x * factor
def clamp(x, least, most): return tl.minimum(tl.maximum(x, least), most)
def abs(x): return tl.abs(x)
def neg(x): return -x
def exp(x): return tl.exp(x)
def log(x): return tl.log(x)
def sqrt(x): return tl.sqrt(x)
def rsqrt(x): return 1.0 / tl.sqrt(x)
def relu(x): return tl.maximum(x, 0.0)
def hardswish(x): return x * tl.minimum(tl.maximum(x + 3.0, 0.0), 6.0) / 6.0
def sigmoid(x): return _sigmoid(x)
def tanh(x): return 2.0 * _sigmoid(2.0 * x) - 1.0
def gelu(x): return x * _normal_cdf(x)
def gelu_16(x): return x * _normal_cdf_16(x)
def gelu_tanh(x): return x * _sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))
def silu(x): return x * _sigmoid(x)
def swiglu(a, b): return a * _sigmoid(a) * b
def gelu_backward(grad, x): return grad * (_normal_cdf(x) + x * 0.3989422804014327 * tl.exp(-0.5 * x * x))
def gelu_backward_16(grad, x): return grad * (_normal_cdf_16(x) + x * 0.3989422804014327 * tl.exp(-0.5 * x * x))
def silu_backward(grad, x): return grad * _sigmoid(x) * (1.0 + x * _sigmoid(-x))


# fmt: on
EXPRESSIONS = {name: triton.jit(function) for name, function in list(globals().items()) if callable(function) and getattr(function, "__module__", "") == __name__}
# What the expressions call is looked up here when they are compiled.
globals().update(EXPRESSIONS)
OPS = sorted(name for name in EXPRESSIONS if not name.startswith("_") and not name.endswith("_16"))
