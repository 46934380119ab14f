"""Element-wise kernels: one read of every input, one write, 16 bytes per thread and access wherever alignment allows.

All blocks but the last take a path without masks, so that a length no power of two divides still moves whole vectors.
"""
from __future__ import annotations

from typing import Any, Dict, List

import triton
import triton.language as tl

from ..types import Built, Problem
from .launch import ceil_div, clamp, is_wide, prepare
from .tuner import tuned

DTYPES = ("f32", "f16", "bf16")


@triton.jit
def unary_kernel(x, out, n, function: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    block = tl.program_id(0)
    if WIDE:
        block = block.to(tl.int64)
    at = block * BLOCK + tl.arange(0, BLOCK)
    if (block + 1) * BLOCK <= n:
        tl.store(out + at, function(tl.load(x + at)).to(out.dtype.element_ty))
    else:
        inside = at < n
        tl.store(out + at, function(tl.load(x + at, mask=inside, other=0.0)).to(out.dtype.element_ty), mask=inside)


@triton.jit
def binary_kernel(a, b, out, n, function: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    block = tl.program_id(0)
    if WIDE:
        block = block.to(tl.int64)
    at = block * BLOCK + tl.arange(0, BLOCK)
    if (block + 1) * BLOCK <= n:
        tl.store(out + at, function(tl.load(a + at), tl.load(b + at)).to(out.dtype.element_ty))
    else:
        inside = at < n
        left = tl.load(a + at, mask=inside, other=0.0)
        right = tl.load(b + at, mask=inside, other=0.0)
        tl.store(out + at, function(left, right).to(out.dtype.element_ty), mask=inside)


def configurations(n: int, element_bytes: int) -> List[Dict[str, int]]:
    """Blocks worth trying, by their bytes: small ones spread a short array over the GPU, large ones keep more in flight."""
    total = n * element_bytes
    block_bytes = (1024, 2048, 4096) if total <= 1 << 20 else (2048, 4096, 8192) if total <= 1 << 24 else (4096, 8192, 16384)
    found = []
    for size in block_bytes:
        for bytes_per_thread in (16, 32, 64):
            warps = size // bytes_per_thread // 32
            if 1 <= warps <= 16:
                found.append({"BLOCK": size // element_bytes, "warps": warps})
    return found


def elementwise(problem: Problem, kernel: Any, function: Any) -> Built:
    """An op of one (`unary_kernel`) or two (`binary_kernel`) inputs; `function` is a jitted function of their values."""
    (n,) = problem.dims
    element_bytes = 4 if problem.dtype == "f32" else 2

    def ready(config, inputs, output):
        block = config["BLOCK"]
        grid = (clamp(ceil_div(n, block), 1, 2**31 - 1),)
        meta = {"function": function, "WIDE": is_wide(n), "BLOCK": block}
        return prepare(kernel, grid, (*inputs, output, n), meta, warps=config["warps"], stages=1)

    return tuned(problem, configurations(n, element_bytes), ready)
