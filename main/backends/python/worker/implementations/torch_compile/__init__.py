"""PyTorch through torch.compile: the kernels that its compiler Inductor writes for this very shape."""
from __future__ import annotations

import os
import shutil
import sys
from typing import Any, Callable, Dict, Optional, Sequence

from libraries import last_line, load, release_of, version_of

from .. import torch_eager
from ..types import Built, Call, Problem

ID = "torch.compile"
TITLE = "torch.compile"
PREFERRED = False
HARDWARE = ("cpu", "cuda")
ARRAYS = "torch"

kernels = torch_eager.kernels


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
    function = torch.compile(_function(torch, problem), dynamic=False, fullgraph=True)
    if problem.op == "matmul":
        # A product comes from a library, and copying it to a given output would be a second pass over it.
        def bind(inputs: Sequence[Any], output: Any) -> Call:
            a, b = torch_eager.operands(problem, inputs)
            return lambda: function(a, b)

        return Built(bind, allocates=True)

    def bind_with_output(inputs: Sequence[Any], output: Any) -> Call:
        out = output.view(()) if problem.params.get("axis") == "all" else output
        return lambda: function(*inputs, out)

    return Built(bind_with_output)


def _function(torch: Any, problem: Problem) -> Callable[..., Any]:
    """The op as one function; `copy_` to the output becomes the store of the kernel that computes."""
    functional = torch.nn.functional
    axis = problem.params.get("axis")
    shape = list(problem.input_shapes[-1])

    def sum_(x: Any, out: Any) -> None:
        out.copy_(torch.sum(x) if axis == "all" else torch.sum(x, -1 if axis == "last" else 0))

    functions: Dict[str, Callable[..., Any]] = {
        "copy": lambda x, out: out.copy_(x),
        "add": lambda a, b, out: out.copy_(torch.add(a, b)),
        "mul": lambda a, b, out: out.copy_(torch.mul(a, b)),
        "exp": lambda x, out: out.copy_(torch.exp(x)),
        "gelu": lambda x, out: out.copy_(functional.gelu(x)),
        "sum": sum_,
        "softmax": lambda x, out: out.copy_(torch.softmax(x, -1)),
        "layer_norm": lambda x, weight, bias, out: out.copy_(functional.layer_norm(x, shape, weight, bias, 1e-5)),
        "matmul": torch.matmul,
    }
    return functions[problem.op]
