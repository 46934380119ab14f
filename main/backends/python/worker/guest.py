"""libopscope_guest (native/guest/guest.h): buffers, fills, clocks and timers."""
from __future__ import annotations

import array
import ctypes
import json
import math
from typing import Any, Callable, Dict, List, Optional, Sequence

from failures import CaseFailure

VERSION = 1
RUN, RECORD, LAUNCH, DROP = range(4)
MODES = ("cold", "hot", "rotated", "graph")
DTYPES = ("f32", "f16", "bf16", "tf32")
DTYPE_BYTES = {"f32": 4, "f16": 2, "bf16": 2, "tf32": 4}

Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int)
_doubles = ctypes.POINTER(ctypes.c_double)


class _Input(ctypes.Structure):
    _fields_ = [("elements", ctypes.c_int64), ("positive", ctypes.c_int32), ("factor", ctypes.c_float), ("key0", ctypes.c_uint32), ("key1", ctypes.c_uint32)]


class _Spec(ctypes.Structure):
    _fields_ = [
        ("cuda", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
        ("threads", ctypes.c_int32),
        ("rotated", ctypes.c_int32),
        ("inputs", ctypes.c_int32),
        ("input", ctypes.POINTER(_Input)),
        ("output_elements", ctypes.c_int64),
        ("call", Callback),
    ]


_SIGNATURES = {
    "error": (ctypes.c_char_p, []),
    "version": (ctypes.c_int, []),
    "open": (ctypes.c_int, [ctypes.POINTER(_Spec)]),
    "close": (None, [ctypes.c_int]),
    "sets": (ctypes.c_int, [ctypes.c_int]),
    "input_at": (ctypes.c_void_p, [ctypes.c_int, ctypes.c_int, ctypes.c_int]),
    "output_at": (ctypes.c_void_p, [ctypes.c_int, ctypes.c_int]),
    "stream": (ctypes.c_void_p, [ctypes.c_int]),
    "bytes": (ctypes.c_int64, [ctypes.c_int]),
    "delta_bytes": (ctypes.c_int64, [ctypes.c_int]),
    "tick_ns": (ctypes.c_double, [ctypes.c_int]),
    "refill": (ctypes.c_int, [ctypes.c_int, ctypes.POINTER(_Input)]),
    "poison": (ctypes.c_int, [ctypes.c_int]),
    "run": (ctypes.c_int, [ctypes.c_int]),
    "count_unwritten": (ctypes.c_int64, [ctypes.c_int]),
    "read": (ctypes.c_int, [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]),
    "sample": (ctypes.c_int, [ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int, _doubles, _doubles, _doubles, _doubles]),
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
    """Inputs and outputs of one open case, and everything the library does with them."""

    def __init__(self, library: Any, request: Dict[str, Any], hardware: str, ordinal: int, call: Callable[[int, int, int], int], why: Callable[[], Optional[BaseException]]) -> None:
        """`why` gives the exception that `call` kept, if any, once."""
        self._library = library
        self._why = why
        self._callback = Callback(call)  # Kept for as long as the library may call it.
        inputs = _inputs(request["inputs"], [one["elements"] for one in request["inputs"]])
        self._elements = [one["elements"] for one in request["inputs"]]
        self._element_bytes = DTYPE_BYTES[request["dtype"]]
        spec = _Spec(
            int(hardware == "cuda"), ordinal, DTYPES.index(request["dtype"]), request.get("threads") or 1, int(request["rotated"]), len(inputs),
            inputs, request["outputElements"], self._callback,
        )
        self._handle = self._checked(library.open(ctypes.byref(spec)))
        self.sets: int = library.sets(self._handle)
        self.bytes: int = library.bytes(self._handle)
        self.tick_ns: float = library.tick_ns(self._handle)

    def input_at(self, set_: int, index: int) -> int:
        return self._address(self._library.input_at(self._handle, set_, index))

    def output_at(self, set_: int) -> int:
        return self._address(self._library.output_at(self._handle, set_))

    def stream(self) -> int:
        """The CUDA stream that calls are queued on."""
        return self._library.stream(self._handle) or 0

    def delta_bytes(self) -> Optional[int]:
        """Drop of the device's free memory by opening."""
        delta = self._library.delta_bytes(self._handle)
        return None if delta < 0 else delta

    def refill(self, fills: Sequence[Dict[str, Any]]) -> None:
        if len(fills) != len(self._elements):
            raise CaseFailure("internal", "A refill of %d inputs; the case has %d." % (len(fills), len(self._elements)))
        self._checked(self._library.refill(self._handle, _inputs(fills, self._elements)))

    def poison(self) -> None:
        self._checked(self._library.poison(self._handle))

    def run(self) -> None:
        self._checked(self._library.run(self._handle))

    def count_unwritten(self) -> int:
        return self._checked(self._library.count_unwritten(self._handle))

    def read(self, start: int, count: int) -> bytes:
        destination = ctypes.create_string_buffer(count * self._element_bytes)
        self._checked(self._library.read(self._handle, start, count, destination))
        return destination.raw

    def sample(self, mode: str, count: int, inner: int) -> Dict[str, Any]:
        """`arrays` by protocol.ts name (each of `count` float64), `state`, and `host_call_ns` where there is one."""
        columns = [(ctypes.c_double * count)() for _ in range(3)]
        host = ctypes.c_double(math.nan)
        taken = self._checked(self._library.sample(self._handle, MODES.index(mode), count, inner, columns[0], columns[1], columns[2], ctypes.byref(host)))
        arrays = {name: array.array("d", column[:taken]) for name, column in zip(("samplesNs", "clockMhz", "probeNs"), columns)}
        known = {name: values for name, values in arrays.items() if name == "samplesNs" or not any(map(math.isnan, values))}
        return {"count": taken, "arrays": known, "state": json.loads(self._library.state(self._handle)), "host_call_ns": None if math.isnan(host.value) else host.value}

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


def _inputs(fills: Sequence[Dict[str, Any]], elements: Sequence[int]) -> Any:
    return (_Input * len(fills))(*[_Input(n, int(f["positive"]), f["factor"], f["key0"], f["key1"]) for f, n in zip(fills, elements)])
