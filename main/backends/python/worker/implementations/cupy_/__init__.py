"""CuPy on a GPU: the calls of the NumPy table, which it has under the same names."""
from __future__ import annotations

from functools import partial
from typing import Any, Dict, List, Optional, Sequence

from libraries import load

from ..numpy_.table import TABLE
from ..types import Built, Call, Problem

ID = "cupy"
TITLE = "CuPy"
PREFERRED = False
HARDWARE = ("cuda",)
ARRAYS = "cupy"


def availability(hardware: str) -> Optional[str]:
    cupy, problem = load("cupy")
    if problem == "not installed":
        return "CuPy is not installed: python -m pip install cupy-cuda13x, or cupy-cuda12x for CUDA 12"
    if cupy is None:
        return "CuPy cannot be imported: %s" % problem
    try:
        return None if cupy.cuda.runtime.getDeviceCount() > 0 else "CuPy finds no GPU."
    except Exception as error:
        return "CuPy reaches no GPU: %s" % error


def kernels(hardware: str) -> Dict[str, List[str]]:
    return {op: entry.dtypes for op, entry in TABLE.items() if entry.needs in (None, "scipy.special")}


class _Reducing:
    """A universal function whose `reduce` is CuPy's reduction of that name: few of its own have one."""

    def __init__(self, function: Any, reduce: Any) -> None:
        self._function = function
        self._reduce = reduce

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        return self._function(*arrays, **named)

    def reduce(self, x: Any, axis: Any = 0, out: Any = None, keepdims: bool = False) -> Any:
        return self._reduce(x, axis=axis, out=out, keepdims=keepdims)


class _AsNumpy:
    """CuPy as the entries of the NumPy table take NumPy."""

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        self.add = _Reducing(cupy.add, cupy.sum)
        self.maximum = _Reducing(cupy.maximum, cupy.amax)
        # `out` of amin fails in CuPy 14.2.
        self.minimum = _Reducing(cupy.minimum, lambda x, axis, out, keepdims: cupy.copyto(out, x.min(axis=axis, keepdims=keepdims)))

    def __getattr__(self, name: str) -> Any:
        if name == "erf":
            return load("cupyx.scipy.special")[0].erf  # type: ignore[union-attr]
        return getattr(self._cupy, name)


def build(problem: Problem) -> Built:
    cupy: Any = load("cupy")[0]
    entry = TABLE[problem.op]
    notes = ["%s is %d calls of CuPy." % (problem.op, entry.calls)] if entry.calls > 1 else []
    scratch = [cupy.empty(shape, cupy.float32) for shape in entry.scratch(problem)]
    function = entry.make(_AsNumpy(cupy), problem)

    def bind(inputs: Sequence[Any], outputs: Sequence[Any]) -> Call:
        inputs, outputs = entry.arrange(problem, inputs, outputs)
        return partial(function, *inputs) if entry.allocates else partial(function, *inputs, *scratch, out=outputs[0])

    return Built(bind, allocates=entry.allocates, notes=notes, scratch_bytes=sum(array.nbytes for array in scratch))
