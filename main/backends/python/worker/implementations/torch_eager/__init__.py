"""PyTorch as it runs by default, call by call, with `out=` where it takes one."""
from __future__ import annotations

from functools import partial
from typing import Any, Callable, Dict, List, Optional, Sequence

from libraries import cuda_problem, load

from .. import torch_table
from ..types import Built, Call, Problem

ID = "torch"
TITLE = "PyTorch"
PREFERRED = True
HARDWARE = ("cpu", "cuda")
ARRAYS = "torch"


def availability(hardware: str) -> Optional[str]:
    if hardware == "cuda":
        return cuda_problem()
    problem = load("torch")[1]
    if problem == "not installed":
        return "PyTorch is not installed: python -m pip install torch"
    return None if problem is None else "PyTorch cannot be imported: %s" % problem


def kernels(hardware: str) -> Dict[str, List[str]]:
    return torch_table.kernels(load("torch")[0], hardware)


def build(problem: Problem) -> Built:
    torch: Any = load("torch")[0]
    entry = torch_table.TABLE[problem.op]
    function = entry.make(torch, problem)
    into = entry.into(torch, problem) if entry.into else None
    built = Built(lambda inputs, outputs: bind(inputs, outputs), allocates=entry.out is None and into is None and not entry.in_place, notes=[entry.note] if entry.note else [])

    def bind(inputs: Sequence[Any], outputs: Sequence[Any]) -> Call:
        inputs, outputs = entry.arrange(problem, inputs, outputs)
        if into is not None:
            return partial(into, *inputs, *outputs)
        if entry.out is not None and not built.allocates:
            call = partial(function, *inputs, **{entry.out: outputs[0]})
            if entry.out_everywhere or _works(call):
                return call
            built.allocates = True
        return partial(function, *inputs)

    return built


def _works(call: Callable[[], Any]) -> bool:
    """Whether this version of PyTorch has the call with an output."""
    try:
        call()
        return True
    except (TypeError, NotImplementedError, RuntimeError):
        return False
