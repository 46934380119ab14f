#!/usr/bin/env python3
"""Opens, checks and samples a case on the CPU through libopscope_guest, as the Python worker does.

usage: ctypes_check.py [LIBRARY]      (default: native/build/libopscope_guest.so); needs NumPy. Exits 1 on trouble.
"""
import ctypes
import json
import math
import pathlib
import sys

import numpy as np

CALL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int)


class Input(ctypes.Structure):
    _fields_ = [("elements", ctypes.c_int64), ("positive", ctypes.c_int32), ("factor", ctypes.c_float), ("key0", ctypes.c_uint32), ("key1", ctypes.c_uint32)]


class Spec(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int32) for name in ("cuda", "device", "dtype", "threads", "rotated", "inputs")] + [
        ("input", ctypes.POINTER(Input)),
        ("output_elements", ctypes.c_int64),
        ("call", CALL),
    ]


def load(path):
    library = ctypes.CDLL(str(path))
    for name, result in {"error": ctypes.c_char_p, "state": ctypes.c_char_p, "input_at": ctypes.c_void_p, "output_at": ctypes.c_void_p, "stream": ctypes.c_void_p,
                         "bytes": ctypes.c_int64, "delta_bytes": ctypes.c_int64, "tick_ns": ctypes.c_double, "callback_ns": ctypes.c_double,
                         "count_unwritten": ctypes.c_int64}.items():
        getattr(library, "opscope_guest_" + name).restype = result
    library.opscope_guest_read.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]
    return library


def key_pair(seed, stream):
    key0 = mix(np.uint32((seed + stream * 0x9E3779B9) & 0xFFFFFFFF))
    return int(key0[0]), int(mix(key0 ^ np.uint32(0x85EBCA6B))[0])


def mix(x):
    """lowbias32, as core/random.ts."""
    x = np.atleast_1d(np.asarray(x, dtype=np.uint32))
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def fill(n, factor, key0, key1):
    """Elements 0 .. n by the rule of core/random.ts."""
    a = mix(np.arange(n, dtype=np.uint32) + np.uint32(key0))
    b = mix(a ^ np.uint32(key1))
    k = sum((x.astype(np.int64) for x in (a & np.uint32(0xFFFF), a >> np.uint32(16), b & np.uint32(0xFFFF), b >> np.uint32(16)))) - 131070
    return k.astype(np.float32) * np.float32(factor)


class Case:
    """An add of two tensors of `n` elements in NumPy. `fails` makes its calls fail."""

    def __init__(self, library, n, threads=1, rotated=False):
        self.library, self.n, self.sets, self.fails = library, n, [], False
        self.inputs = (Input * 2)(*(Input(n, 0, 1e-5, *key_pair(7, stream)) for stream in range(2)))
        self.call = CALL(self.answer)
        self.handle = library.opscope_guest_open(ctypes.byref(Spec(0, 0, 0, threads, int(rotated), 2, self.inputs, n, self.call)))
        if self.handle < 1:
            raise RuntimeError(library.opscope_guest_error().decode())
        for s in range(library.opscope_guest_sets(self.handle)):
            places = [library.opscope_guest_input_at(self.handle, s, i) for i in range(2)] + [library.opscope_guest_output_at(self.handle, s)]
            assert all(place % 64 == 0 for place in places), "a buffer is not aligned to 64 bytes"
            self.sets.append([np.ctypeslib.as_array(ctypes.cast(place, ctypes.POINTER(ctypes.c_float)), (n,)) for place in places])

    def answer(self, action, which, count):
        if self.fails:
            return -1
        if action == 0 and count:
            a, b, out = self.sets[which]
            for _ in range(count):
                np.add(a, b, out=out)
        return 0

    def sample(self, mode, count, inner):
        arrays = [(ctypes.c_double * count)() for _ in range(3)]
        host, calls = ctypes.c_double(), ctypes.c_int()
        taken = self.library.opscope_guest_sample(self.handle, mode, count, inner, *arrays, ctypes.byref(host), ctypes.byref(calls))
        assert taken < 1 or calls.value == (1 if mode == 0 else inner), "samples have another number of calls than asked for"
        return [list(array)[:taken] for array in arrays]

    def close(self):
        self.library.opscope_guest_close(self.handle)


def main():
    default = pathlib.Path(__file__).resolve().parents[2] / "build" / "libopscope_guest.so"
    library = load(sys.argv[1] if len(sys.argv) > 1 else default)
    n = 1 << 18
    for threads in (1, 2):
        for rotated in (False, True):
            case = Case(library, n if not rotated else 1 << 21, threads, rotated)
            expected = sum(fill(case.n, i.factor, i.key0, i.key1) for i in case.inputs)
            assert library.opscope_guest_poison(case.handle) == 0
            assert library.opscope_guest_count_unwritten(case.handle) == case.n, "the output was not poisoned"
            assert library.opscope_guest_run(case.handle) == 0
            assert library.opscope_guest_count_unwritten(case.handle) == 0, "elements were never written"
            got = np.empty(case.n, dtype=np.float32)
            assert library.opscope_guest_read(case.handle, 0, case.n, got.ctypes.data) == 0
            assert np.array_equal(got, expected), "the sum is not that of the inputs of core/random.ts"
            for mode in (0, 1, 2) if rotated else (0, 1):
                ns, clock, probe = case.sample(mode, 5, 2)
                assert len(ns) == 5 and min(ns) > 0 and min(probe) > 0 and math.isnan(clock[0]), library.opscope_guest_error()
                print(f"threads {threads} sets {len(case.sets):3} {('cold', 'hot', 'rotated')[mode]:8} {sorted(ns)[2] / 1e3:9.1f} us")
            assert "involuntarySwitches" in json.loads(library.opscope_guest_state(case.handle))
            case.fails = True
            assert case.sample(1, 1, 1)[0] == [] and json.loads(library.opscope_guest_error())["code"] == "kernel-failed"
            print(f"asking for nothing costs {library.opscope_guest_callback_ns(case.handle):.0f} ns")
            case.close()


if __name__ == "__main__":
    main()
