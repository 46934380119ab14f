"""Arrays of NumPy, PyTorch and CuPy over memory that Opscope allocated; nothing is copied."""
from __future__ import annotations

import ctypes
from typing import Any, Sequence

from guest import STORAGE_BYTES
from libraries import load

# How __cuda_array_interface__ names what torch then views as its own dtype; it has no word for bf16 and f8e4m3.
_TYPESTR = {"f32": "<f4", "f16": "<f2", "bf16": "<i2", "i8": "|i1", "f8e4m3": "|u1", "i32": "<i4", "u8": "|u1"}
TORCH_DTYPES = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "i8": "int8", "f8e4m3": "float8_e4m3fn", "i32": "int32", "u8": "uint8"}
# NumPy has no bf16 and no f8e4m3.
_NUMPY_DTYPES = {"f32": "float32", "f16": "float16", "i8": "int8", "i32": "int32", "u8": "uint8"}


class _OnGpu:
    def __init__(self, address: int, shape: Sequence[int], typestr: str) -> None:
        self.__cuda_array_interface__ = {"data": (address, False), "shape": tuple(shape), "typestr": typestr, "strides": None, "version": 2}


def wrap(kind: str, address: int, shape: Sequence[int], storage: str, hardware: str, ordinal: int) -> Any:
    """A row-major array of this shape and storage type of core/case.ts. `kind`: numpy, torch, cupy or jax, which reads those of the others."""
    if kind == "cupy":
        cupy: Any = load("cupy")[0]
        return cupy.asarray(_OnGpu(address, shape, _TYPESTR[storage]))
    if kind == "torch" or (kind == "jax" and hardware == "cuda"):
        torch: Any = load("torch")[0]
        target = getattr(torch, TORCH_DTYPES[storage])
        if hardware == "cuda":
            return torch.as_tensor(_OnGpu(address, shape, _TYPESTR[storage]), device="cuda:%d" % ordinal).view(target)
        return torch.frombuffer(_memory(address, shape, storage), dtype=target).view(*shape)
    numpy: Any = load("numpy")[0]
    return numpy.frombuffer(_memory(address, shape, storage), dtype=_NUMPY_DTYPES[storage]).reshape(tuple(shape))


def _memory(address: int, shape: Sequence[int], storage: str) -> Any:
    elements = 1
    for extent in shape:
        elements *= extent
    return (ctypes.c_char * (elements * STORAGE_BYTES[storage])).from_address(address)
