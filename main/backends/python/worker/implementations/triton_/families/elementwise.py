"""Element-wise kernels: one read of every input, one write, 16 bytes per thread and access wherever alignment allows.

All blocks but the last take a path without masks, so that a length no power of two divides still moves whole vectors.
"""
from __future__ import annotations

from typing import Dict, List

import triton
import triton.language as tl

from ...types import Built, Problem
from ..elementwise_table import EXPRESSIONS, OPS as NAMES
from ..launch import ceil_div, clamp, is_wide, prepare
from ..tuner import tuned

OPS = {op: ("f32", "f16", "bf16") for op in NAMES}


@triton.jit
def place_of(at, COLS: tl.constexpr, BROADCAST: tl.constexpr):
    # Where the second input has the element that goes with `at`.
    if BROADCAST == 1:
        place = at % COLS
    elif BROADCAST == 2:
        place = at // COLS
    elif BROADCAST == 3:
        place = at * 0
    else:
        place = at
    return place


@triton.jit
def kernel(
    a, b, c, out, n, function: tl.constexpr, INPUTS: tl.constexpr, SCALARS: tl.constexpr, FIRST: tl.constexpr, SECOND: tl.constexpr,
    COLS: tl.constexpr, BROADCAST: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr,
):
    block = tl.program_id(0)
    if WIDE:
        block = block.to(tl.int64)
    at = block * BLOCK + tl.arange(0, BLOCK)
    other = place_of(at, COLS, BROADCAST)
    full = (block + 1) * BLOCK <= n
    inside = at < n
    if full:
        x = tl.load(a + at).to(tl.float32)
        y = x
        z = x
        if INPUTS > 1:
            y = tl.load(b + other).to(tl.float32)
        if INPUTS > 2:
            z = tl.load(c + at).to(tl.float32)
    else:
        x = tl.load(a + at, mask=inside, other=1.0).to(tl.float32)
        y = x
        z = x
        if INPUTS > 1:
            y = tl.load(b + other, mask=inside, other=1.0).to(tl.float32)
        if INPUTS > 2:
            z = tl.load(c + at, mask=inside, other=1.0).to(tl.float32)
    if INPUTS == 3:
        result = function(x, y, z)
    elif INPUTS == 2:
        if SCALARS == 1:
            result = function(x, y, FIRST)
        else:
            result = function(x, y)
    else:
        if SCALARS == 2:
            result = function(x, FIRST, SECOND)
        elif SCALARS == 1:
            result = function(x, FIRST)
        else:
            result = function(x)
    result = result.to(out.dtype.element_ty)
    if full:
        tl.store(out + at, result)
    else:
        tl.store(out + at, result, mask=inside)


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


def build(problem: Problem) -> Built:
    """An operation of elementwise_table.py. dims: [n], or [n, cols, 1 row | 2 column | 3 scalar] with a smaller second input."""
    n, cols, broadcast = (*problem.dims, 1, 0)[:3]
    count = len(problem.inputs())
    first, second = (*problem.scalars, 0.0, 0.0)[:2]
    half = problem.op + "_16"
    function = EXPRESSIONS[half if problem.dtype != "f32" and half in EXPRESSIONS else problem.op]

    def ready(config, inputs, outputs):
        block = config["BLOCK"]
        grid = (clamp(ceil_div(n, block), 1, 2**31 - 1),)
        meta = {
            "function": function, "INPUTS": count, "SCALARS": len(problem.scalars), "FIRST": first, "SECOND": second,
            "COLS": cols, "BROADCAST": broadcast, "WIDE": is_wide(n), "BLOCK": block,
        }
        # Pointers that an operation of fewer inputs does not read.
        a, b, c = (*inputs, inputs[0], inputs[0])[:3]
        return prepare(kernel, grid, (a, b, c, outputs[0], n), meta, warps=config["warps"], stages=1)

    return tuned(problem, configurations(n, 4 if problem.dtype == "f32" else 2), ready)
