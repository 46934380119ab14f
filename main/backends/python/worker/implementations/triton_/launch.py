"""Compiled launches: everything that can be decided before a call is decided here."""
from __future__ import annotations

import os
from functools import partial
from typing import Any, Callable, Mapping, Sequence, Tuple

import torch
import triton

from libraries import release_of


# Kernels run as plain Python on the CPU, for tests without a GPU.
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
# From 3.3 on a compiled kernel takes all arguments of its function, constexpr ones included, and is launched without
# the look-up by types and values that `kernel[grid](...)` makes in every call.
COMPILED_LAUNCH = release_of(triton) >= (3, 3) and not INTERPRETED


def prepare(kernel: Any, grid: Tuple[int, ...], args: Sequence[Any], meta: Mapping[str, Any], *, warps: int, stages: int) -> Callable[[], None]:
    """Compiles `kernel` for `args` and gives the function that queues it on torch's current stream.

    `args` are the leading, `meta` the constexpr parameters; alignment of pointers is compiled in, so a call is only valid
    for these very tensors, which it keeps alive.
    """
    options = {"num_warps": warps, "num_stages": stages}
    if not COMPILED_LAUNCH:
        launch = partial(kernel[grid], *args, **meta, **options)

        def call() -> None:
            launch()

        return call

    compiled = kernel.warmup(*args, grid=grid, **meta, **options)
    constants = [meta[name] for name in kernel.arg_names[len(args):]]
    # A pointer given as a number spares the launcher asking the driver whether it is one.
    values = [arg.data_ptr() if isinstance(arg, torch.Tensor) else arg for arg in args]
    call = partial(compiled[(tuple(grid) + (1, 1))[:3]], *values, *constants)
    call.keeps = tuple(args)  # type: ignore[attr-defined]
    return call


def multiprocessors(ordinal: int) -> int:
    """Multiprocessors of the GPU: what a grid must fill."""
    # Few when interpreted, so that small tensors are split as large ones are on a GPU.
    return 8 if INTERPRETED else torch.cuda.get_device_properties(ordinal).multi_processor_count


def ceil_div(a: int, b: int) -> int:
    """Quotient rounded up."""
    return -(-a // b)


def power_of_two(n: int) -> int:
    """Smallest power of two that is at least n: block shapes must be one."""
    return 1 << max(n - 1, 0).bit_length()


def clamp(n: int, low: int, high: int) -> int:
    """n within [low, high]."""
    return max(low, min(n, high))


def is_wide(elements: int) -> bool:
    """Whether offsets up to `elements`, padded by a block, leave 32 bits."""
    return elements > 2**31 - 2**20
