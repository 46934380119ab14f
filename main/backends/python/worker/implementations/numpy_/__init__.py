"""NumPy on the CPU, with `out=` and scratch memory that is allocated once."""
from __future__ import annotations

from functools import partial
from typing import Any, Dict, List, Optional, Sequence

from libraries import load
from threads import set_numpy_threads

from ..types import Built, Call, Problem
from .table import TABLE

ID = "numpy"
TITLE = "NumPy"
PREFERRED = False
HARDWARE = ("cpu",)
ARRAYS = "numpy"


def availability(hardware: str) -> Optional[str]:
    if hardware != "cpu":
        return "NumPy computes on the CPU only."
    problem = load("numpy")[1]
    if problem == "not installed":
        return "NumPy is not installed: python -m pip install numpy"
    return None if problem is None else "NumPy cannot be imported: %s" % problem


def kernels(hardware: str) -> Dict[str, List[str]]:
    # BLAS multiplies no f16.
    return {op: ["f32"] if entry.threads else entry.dtypes for op, entry in TABLE.items() if entry.needs is None or load(entry.needs)[0] is not None}


def build(problem: Problem) -> Built:
    np: Any = load("numpy")[0]
    entry = TABLE[problem.op]
    notes = []
    if entry.threads:
        note = set_numpy_threads(problem.threads or 1)
        if note:
            notes.append(note)
    elif problem.threads and problem.threads > 1:
        notes.append("NumPy computes this on one thread.")
    if entry.calls > 1:
        notes.append("%s is %d calls of NumPy." % (problem.op, entry.calls))
    scratch = [np.empty(shape, np.float32) for shape in entry.scratch(problem)]
    function = entry.make(np, problem)

    def bind(inputs: Sequence[Any], outputs: Sequence[Any]) -> Call:
        inputs, outputs = entry.arrange(problem, inputs, outputs)
        if entry.allocates:
            return partial(function, *inputs)
        return partial(function, *inputs, *scratch, out=outputs[0])

    return Built(bind, allocates=entry.allocates, notes=notes, scratch_bytes=sum(array.nbytes for array in scratch))
