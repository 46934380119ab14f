"""libopscope_guest (native/guest/guest.h): buffers, fills, clocks and timers."""
from __future__ import annotations

import array
import ctypes
import json
import math
from typing import Any, Callable, Dict, List, Optional, Sequence

from failures import CaseFailure

VERSION = 3
RUN, RECORD, LAUNCH, DROP = range(4)
MODES = ("cold", "hot", "rotated", "graph")
# In the order of core/case.ts, as the library counts them.
DTYPES = ("f32", "f16", "bf16", "tf32", "i8", "f8e4m3")
STORAGE_TYPES = ("f32", "f16", "bf16", "i8", "f8e4m3", "i32", "u8")
STORAGE_BYTES = {"f32": 4, "f16": 2, "bf16": 2, "i8": 1, "f8e4m3": 1, "i32": 4, "u8": 1}
ROLES = ("in", "out", "inout")

Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int)
_doubles = ctypes.POINTER(ctypes.c_double)


class _Fill(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("key0", ctypes.c_uint32), ("key1", ctypes.c_uint32), ("factor", ctypes.c_float), ("low", ctypes.c_int32), ("below", ctypes.c_uint32)]


class _Tensor(ctypes.Structure):
    _fields_ = [("elements", ctypes.c_int64), ("storage", ctypes.c_int32), ("role", ctypes.c_int32), ("fill", _Fill)]


class _Case(ctypes.Structure):
    _fields_ = [
        ("cuda", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
        ("threads", ctypes.c_int32),
        ("rotated", ctypes.c_int32),
        ("tensors", ctypes.c_int32),
        ("tensor", ctypes.POINTER(_Tensor)),
        ("call", Callback),
    ]


_SIGNATURES = {
    "error": (ctypes.c_char_p, []),
    "version": (ctypes.c_int, []),
    "open_case": (ctypes.c_int, [ctypes.POINTER(_Case)]),
    "close": (None, [ctypes.c_int]),
    "sets": (ctypes.c_int, [ctypes.c_int]),
    "input_at": (ctypes.c_void_p, [ctypes.c_int, ctypes.c_int, ctypes.c_int]),
    "outputs_at": (ctypes.c_void_p, [ctypes.c_int, ctypes.c_int, ctypes.c_int]),
    "stream": (ctypes.c_void_p, [ctypes.c_int]),
    "bytes": (ctypes.c_int64, [ctypes.c_int]),
    "delta_bytes": (ctypes.c_int64, [ctypes.c_int]),
    "tick_ns": (ctypes.c_double, [ctypes.c_int]),
    "fill_again": (ctypes.c_int, [ctypes.c_int, ctypes.POINTER(_Fill)]),
    "poison": (ctypes.c_int, [ctypes.c_int]),
    "run": (ctypes.c_int, [ctypes.c_int]),
    "scan": (ctypes.c_int, [ctypes.c_int, ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_int64)]),
    "read_output": (ctypes.c_int, [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]),
    "sample": (ctypes.c_int, [ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int, _doubles, _doubles, _doubles, _doubles, ctypes.POINTER(ctypes.c_int)]),
    "state": (ctypes.c_char_p, [ctypes.c_int]),
}


class Library:
    """The functions of the library, by name without `opscope_guest_`. Raises CaseFailure where it cannot be used."""

    def __init__(self, path: str) -> None:
        try:
            self._library = ctypes.CDLL(path)
            for name, (result, arguments) in _SIGNATURES.items():
                function = getattr(self._library, "opscope_guest_" + name)
                function.restype = result
                function.argtypes = arguments
                setattr(self, name, function)
        except (OSError, AttributeError) as error:
            raise CaseFailure("internal", "Opscope's library for Python cannot be loaded: %s" % error)
        found = self.version()  # type: ignore[attr-defined]
        if found != VERSION:
            raise CaseFailure("internal", "Opscope's library for Python is version %d; expected %d. Build or install Opscope again." % (found, VERSION))


class Buffers:
    """Tensors of one open case, and everything the library does with them."""

    def __init__(self, library: Any, request: Dict[str, Any], hardware: str, ordinal: int, call: Callable[[int, int, int], int], why: Callable[[], Optional[BaseException]]) -> None:
        """`why` gives the exception that `call` kept, if any, once."""
        self._library = library
        self._why = why
        self._callback = Callback(call)  # Kept for as long as the library may call it.
        self._read = bytearray()
        tensors = request["tensors"]
        self._fills = sum(one["role"] != "out" for one in tensors)
        self._output_bytes = [STORAGE_BYTES[one["storage"]] for one in tensors if one["role"] != "in"]
        spec = _Case(
            int(hardware == "cuda"), ordinal, DTYPES.index(request["dtype"]), request.get("threads") or 1, int(request["rotated"]), len(tensors),
            (_Tensor * len(tensors))(*map(_tensor, tensors)), self._callback,
        )
        self._handle = self._checked(library.open_case(ctypes.byref(spec)))
        self.sets: int = library.sets(self._handle)
        self.bytes: int = library.bytes(self._handle)
        self.tick_ns: float = library.tick_ns(self._handle)

    def input_at(self, set_: int, index: int) -> int:
        return self._address(self._library.input_at(self._handle, set_, index))

    def output_at(self, set_: int, index: int) -> int:
        return self._address(self._library.outputs_at(self._handle, set_, index))

    def stream(self) -> int:
        """The CUDA stream that calls are queued on."""
        return self._library.stream(self._handle) or 0

    def delta_bytes(self) -> Optional[int]:
        """Drop of the device's free memory by opening."""
        delta = self._library.delta_bytes(self._handle)
        return None if delta < 0 else delta

    def refill(self, fills: Sequence[Dict[str, Any]]) -> None:
        if len(fills) != self._fills:
            raise CaseFailure("internal", "A refill of %d tensors; the case has %d." % (len(fills), self._fills))
        self._checked(self._library.fill_again(self._handle, (_Fill * len(fills))(*map(_fill, fills))))

    def poison(self) -> None:
        self._checked(self._library.poison(self._handle))

    def run(self) -> None:
        self._checked(self._library.run(self._handle))

    def scan(self) -> List[Dict[str, int]]:
        """protocol.ts answers.scan of every output."""
        unwritten, non_finite = ((ctypes.c_int64 * len(self._output_bytes))() for _ in range(2))
        self._checked(self._library.scan(self._handle, unwritten, non_finite))
        return [{"unwritten": missing, **({} if other < 0 else {"nonFinite": other})} for missing, other in zip(unwritten, non_finite)]

    def read(self, output: int, start: int, count: int) -> memoryview:
        if output >= len(self._output_bytes):
            raise CaseFailure("internal", "A read of output %d; the case has %d." % (output, len(self._output_bytes)))
        size = count * self._output_bytes[output]
        if len(self._read) < size:
            self._read = bytearray(size)
        self._checked(self._library.read_output(self._handle, output, start, count, (ctypes.c_char * size).from_buffer(self._read)))
        return memoryview(self._read)[:size]

    def sample(self, mode: str, count: int, inner: int) -> Dict[str, Any]:
        """`arrays` by protocol.ts name (each of `count` float64), `inner` calls in each as made, `state`, and `host_call_ns` where there is one."""
        columns = [(ctypes.c_double * count)() for _ in range(3)]
        host, calls = ctypes.c_double(math.nan), ctypes.c_int(0)
        taken = self._checked(self._library.sample(self._handle, MODES.index(mode), count, inner, columns[0], columns[1], columns[2], ctypes.byref(host), ctypes.byref(calls)))
        arrays = {name: array.array("d", column[:taken]) for name, column in zip(("samplesNs", "clockMhz", "probeNs"), columns)}
        known = {name: values for name, values in arrays.items() if name == "samplesNs" or not any(map(math.isnan, values))}
        return {"count": taken, "inner": calls.value, "arrays": known, "state": json.loads(self._library.state(self._handle)), "host_call_ns": None if math.isnan(host.value) else host.value}

    def close(self) -> None:
        self._library.close(self._handle)

    def _address(self, address: Optional[int]) -> int:
        if not address:
            raise self._failure()
        return address

    def _checked(self, result: int) -> int:
        if result < 0:
            raise self._why() or self._failure()
        return result

    def _failure(self) -> CaseFailure:
        said: List[Any] = [self._library.error()]
        try:
            error = json.loads(said[0])
            return CaseFailure(error["code"], error["message"], error.get("detail"))
        except (TypeError, ValueError, KeyError):
            return CaseFailure("internal", "Opscope's library for Python failed without a reason.", repr(said[0]))


def _fill(fill: Dict[str, Any]) -> _Fill:
    return _Fill(*(fill[name] for name in ("kind", "key0", "key1", "factor", "low", "below")))


def _tensor(tensor: Dict[str, Any]) -> _Tensor:
    return _Tensor(tensor["elements"], STORAGE_TYPES.index(tensor["storage"]), ROLES.index(tensor["role"]), _fill(tensor["fill"]) if "fill" in tensor else _Fill())
