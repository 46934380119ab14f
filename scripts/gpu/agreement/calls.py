"""The cases of the agreement and the shared library that runs them (native/cuda/tools/shared.cc), by ctypes."""
import ctypes
import dataclasses

MI = 1 << 20


@dataclasses.dataclass(frozen=True)
class Case:
    op: str
    dtype: str
    dims: tuple

    @property
    def label(self):
        return " ".join([self.op, self.dtype, "x".join(map(str, self.dims))])


# What is left when the kernel does nothing.
EMPTY = Case("empty", "f32", (1,))


def cases():
    """1M, 16M and 64M elements of every kind of kernel."""
    found = [EMPTY]
    for op in ("copy", "add"):
        found += [Case(op, "f32", (n * MI,)) for n in (1, 16, 64)]
    found += [Case("sum", "f32", (1, n * MI, 1)) for n in (1, 16, 64)]
    for op in ("softmax", "layer_norm"):
        found += [Case(op, "f32", shape) for shape in ((1024, 1024), (4096, 4096), (16384, 4096))]
    for dtype in ("f32", "bf16"):
        found += [Case("matmul", dtype, (1, n, n, n, 0, 0)) for n in (1024, 4096, 8192)]
    return found


MOST_STAMPS = 8000
MODES = {"cold": 0, "hot": 1, "graph": 2}
FLUSHES = {"read": 0, "write": 1, "write_and_read": 2}


class Calls:
    """Opens, launches and samples cases. Raises RuntimeError with the library's own words."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.opscope_error.restype = ctypes.c_char_p
        self.lib.opscope_tick_ns.restype = self.lib.opscope_timer_step_ns.restype = ctypes.c_double
        self.lib.opscope_launch.argtypes = [ctypes.c_int, ctypes.c_void_p]

    def check(self, result):
        if result < 0:
            raise RuntimeError(self.lib.opscope_error().decode())
        return result

    def open(self, number, case):
        dims = (ctypes.c_longlong * len(case.dims))(*case.dims)
        self.check(self.lib.opscope_open(number, case.op.encode(), case.dtype.encode(), dims, len(case.dims)))

    def close(self, number):
        self.check(self.lib.opscope_close(number))

    def run(self, number):
        self.check(self.lib.opscope_run(number))

    def kernels(self, number):
        return self.lib.opscope_kernels(number)

    def stamp(self, index, stream):
        self.check(self.lib.opscope_stamp(index, ctypes.c_void_p(stream)))

    def clocks(self, count):
        """MHz between the stamps 0 .. count and their neighbours."""
        mhz = (ctypes.c_double * count)()
        return list(mhz[: self.check(self.lib.opscope_clocks(0, count, mhz))])

    def sample(self, number, mode, count, inner=1, flush="read", stamps=True):
        """Nanoseconds per call of each sample, as Opscope takes them, and the SM clock in MHz where there is one."""
        ns, mhz = (ctypes.c_double * count)(), (ctypes.c_double * count)()
        taken = self.check(self.lib.opscope_sample(number, MODES[mode], FLUSHES[flush], int(stamps), count, inner, ns, mhz))
        return list(ns[:taken]), [value for value in mhz[:taken] if value > 0]
