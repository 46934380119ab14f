"""NumPy on the CPU, with `out=` and scratch memory that is allocated once."""
from __future__ import annotations

from typing import Dict, List, Optional

from libraries import load
from threads import set_numpy_threads

from ..types import Built, Problem
from . import ops

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
    # NumPy has no error function; SciPy brings one that takes arrays.
    return {op: ["f32"] for op in ops.READY if op != "gelu" or load("scipy.special")[0] is not None}


def build(problem: Problem) -> Built:
    notes = []
    if problem.op == "matmul":
        note = set_numpy_threads(problem.threads or 1)
        if note:
            notes.append(note)
    elif problem.threads and problem.threads > 1:
        notes.append("NumPy computes this on one thread.")
    ready = ops.READY[problem.op](problem)
    return Built(ready.bind, notes=notes + ready.notes, scratch_bytes=ready.scratch_bytes)
