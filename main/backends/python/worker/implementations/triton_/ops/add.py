"""out[i] = a[i] + b[i]. The sum of two f16 or bf16 rounded once: f32 holds it with bits to spare."""
import triton
import triton.language as tl

from ..elementwise import DTYPES, binary_kernel, elementwise


@triton.jit
def total(a, b):
    return a.to(tl.float32) + b.to(tl.float32)


def build(problem):
    return elementwise(problem, binary_kernel, total)
