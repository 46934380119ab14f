"""out[i] = e^x[i], computed in f32."""
import triton
import triton.language as tl

from ..elementwise import DTYPES, elementwise, unary_kernel


@triton.jit
def exponential(x):
    return tl.exp(x.to(tl.float32))


def build(problem):
    return elementwise(problem, unary_kernel, exponential)
