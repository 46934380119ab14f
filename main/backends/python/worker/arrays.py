"""Numpy arrays and torch tensors over memory that Opscope allocated; nothing is copied."""
from __future__ import annotations

import ctypes
from typing import Any, Sequence

from guest import DTYPE_BYTES
from libraries import load

# How __cuda_array_interface__ names what torch then views as its own dtype; it has no word for bf16.
_TYPESTR = {"f32": "<f4", "tf32": "<f4", "f16": "<f2", "bf16": "<i2"}
TORCH_DTYPES = {"f32": "float32", "tf32": "float32", "f16": "float16", "bf16": "bfloat16"}


class _OnGpu:
    def __init__(self, address: int, shape: Sequence[int], typestr: str) -> None:
        self.__cuda_array_interface__ = {"data": (address, False), "shape": tuple(shape), "typestr": typestr, "strides": None, "version": 2}


def wrap(kind: str, address: int, shape: Sequence[int], dtype: str, hardware: str, ordinal: int) -> Any:
    """A row-major array of this shape. `kind`: numpy or torch."""
    if kind == "torch":
        torch: Any = load("torch")[0]
        target = getattr(torch, TORCH_DTYPES[dtype])
        if hardware == "cuda":
            return torch.as_tensor(_OnGpu(address, shape, _TYPESTR[dtype]), device="cuda:%d" % ordinal).view(target)
        return torch.frombuffer(_memory(address, shape, dtype), dtype=target).view(*shape)
    numpy: Any = load("numpy")[0]
    return numpy.frombuffer(_memory(address, shape, dtype), dtype=numpy.float32).reshape(tuple(shape))


def _memory(address: int, shape: Sequence[int], dtype: str) -> Any:
    elements = 1
    for extent in shape:
        elements *= extent
    return (ctypes.c_char * (elements * DTYPE_BYTES[dtype])).from_address(address)
