"""PyTorch through torch.compile: the kernels that its compiler Inductor writes for this very shape."""
from __future__ import annotations

import os
import shutil
import sys
import time
from functools import partial
from typing import Any, Callable, Dict, List, Optional, Sequence

from libraries import last_line, load, release_of, version_of

from .. import torch_eager, torch_table
from ..types import Built, Call, Problem

ID = "torch.compile"
TITLE = "torch.compile"
PREFERRED = False
HARDWARE = ("cpu", "cuda")
ARRAYS = "torch"


def kernels(hardware: str) -> Dict[str, List[str]]:
    # PyTorch 2.11 does not compile the step of AdamW for a GPU: the count of steps is on the CPU.
    return {op: dtypes for op, dtypes in torch_eager.kernels(hardware).items() if op != "adamw_step" or hardware == "cpu"}


def availability(hardware: str) -> Optional[str]:
    problem = torch_eager.availability(hardware)
    if problem is not None:
        return problem
    torch: Any = load("torch")[0]
    if release_of(torch) < (2, 0):
        return "PyTorch 2 or newer is needed; this is %s." % version_of(torch)
    if hardware == "cuda":
        triton = load("triton")[1]
        if triton is not None:
            return "Triton is not installed: python -m pip install triton" if triton == "not installed" else "Triton cannot be imported: %s" % triton
    elif not _cpp_compiler():
        return "torch.compile needs a C++ compiler to compute on the CPU, such as g++ or clang++; none was found."
    if sys.version_info >= (3, 11):  # Compilers are the last part of PyTorch to take up a new Python.
        try:
            torch.compile(lambda x: x)
        except Exception as error:
            return "torch.compile does not work here: %s" % last_line(error)
    return None


def _cpp_compiler() -> bool:
    return any(shutil.which(program) for program in (os.environ.get("CXX", ""), "g++", "clang++", "c++", "cl") if program)


def build(problem: Problem) -> Built:
    torch: Any = load("torch")[0]
    import torch._dynamo as dynamo

    # Without this, the ninth shape of a process would run uncompiled, silently.
    dynamo.reset()
    entry = torch_table.TABLE[problem.op]
    function = entry.make(torch, problem)
    notes = [entry.note] if entry.note else []
    if entry.in_place:
        compiled = torch.compile(function, dynamic=False)
    elif entry.fused:
        compiled = torch.compile(_storing(function, len(problem.inputs())), dynamic=False, fullgraph=True)
    else:
        compiled = torch.compile(lambda *inputs: function(*inputs), dynamic=False, fullgraph=True)

    def bind(inputs: Sequence[Any], outputs: Sequence[Any]) -> Call:
        inputs, outputs = entry.arrange(problem, inputs, outputs)
        call = partial(compiled, *inputs, *(outputs if stores else ()))
        if not compilations:
            started = time.perf_counter()
            call()
            if problem.hardware == "cuda":
                torch.cuda.synchronize()
            compilations.append(time.perf_counter() - started)
            notes.append("Compiled in %.1f s, before anything was timed." % compilations[0])
        return call

    stores, compilations = entry.fused and not entry.in_place, []  # type: ignore[var-annotated]
    return Built(bind, allocates=not entry.fused, notes=notes)


def _storing(function: Callable[..., Any], inputs: int) -> Callable[..., None]:
    """The op as one function; `copy_` to the output becomes the store of the kernel that computes."""

    def whole(*tensors: Any) -> None:
        tensors[inputs].copy_(function(*tensors[:inputs]))

    return whole
