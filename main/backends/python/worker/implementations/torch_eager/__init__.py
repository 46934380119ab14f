"""PyTorch as it runs by default, call by call, with `out=` where it takes one."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence

from libraries import cuda_problem, load

from ..types import Built, Call, Problem

ID = "torch"
TITLE = "PyTorch"
PREFERRED = True
HARDWARE = ("cpu", "cuda")
ARRAYS = "torch"

OPS = ("copy", "add", "mul", "exp", "gelu", "sum", "softmax", "layer_norm", "matmul")


def availability(hardware: str) -> Optional[str]:
    if hardware == "cuda":
        return cuda_problem()
    problem = load("torch")[1]
    if problem == "not installed":
        return "PyTorch is not installed: python -m pip install torch"
    return None if problem is None else "PyTorch cannot be imported: %s" % problem


def kernels(hardware: str) -> Dict[str, List[str]]:
    if hardware == "cpu":
        return {op: ["f32"] for op in OPS}
    return {op: ["f32", "f16", "bf16"] + (["tf32"] if op == "matmul" else []) for op in OPS}


def build(problem: Problem) -> Built:
    torch: Any = load("torch")[0]
    functional = torch.nn.functional
    # layer_norm's `out` variant computes into new memory and copies, so the plain call is the cheaper one.
    if problem.op == "layer_norm":
        shape = list(problem.input_shapes[1])
        return Built(lambda inputs, output: lambda: functional.layer_norm(inputs[0], shape, inputs[1], inputs[2], 1e-5), allocates=True)
    writes = _writers(torch, problem)[problem.op]
    plain = {"gelu": lambda x: functional.gelu(x), "softmax": lambda x: torch.softmax(x, -1)}.get(problem.op)
    if plain is not None and not _takes_out(torch, writes):
        return Built(lambda inputs, output: lambda: plain(inputs[0]), allocates=True)
    return Built(writes)


def _writers(torch: Any, problem: Problem) -> Dict[str, Callable[[Sequence[Any], Any], Call]]:
    gelu = torch._C._nn.gelu  # What torch.nn.functional.gelu is, which does not pass `out` on in every version.
    axis = problem.params.get("axis")
    batch = problem.dims[0]

    def sum_(inputs: Sequence[Any], output: Any) -> Call:
        x, dim = (inputs[0].view(-1), 0) if axis == "all" else (inputs[0], 1 if axis == "last" else 0)
        out = output.view(()) if axis == "all" else output
        return lambda: torch.sum(x, dim, out=out)

    def matmul(inputs: Sequence[Any], output: Any) -> Call:
        a, b = operands(problem, inputs)
        out = output[0] if batch == 1 else output
        return lambda: torch.matmul(a, b, out=out)

    return {
        "copy": lambda inputs, output: lambda: output.copy_(inputs[0]),
        "add": lambda inputs, output: lambda: torch.add(inputs[0], inputs[1], out=output),
        "mul": lambda inputs, output: lambda: torch.mul(inputs[0], inputs[1], out=output),
        "exp": lambda inputs, output: lambda: torch.exp(inputs[0], out=output),
        "gelu": lambda inputs, output: lambda: gelu(inputs[0], out=output),
        "sum": sum_,
        "softmax": lambda inputs, output: lambda: torch.softmax(inputs[0], -1, out=output),
        "matmul": matmul,
    }


def operands(problem: Problem, inputs: Sequence[Any]) -> Sequence[Any]:
    """Both matrices as torch.matmul takes them; a batch of one as plain matrices, which a user would have."""
    batch, _m, _n, _k, trans_a, trans_b = problem.dims
    matrices = [array[0] if batch == 1 else array for array in inputs]
    return [matrix.transpose(-1, -2) if transposed else matrix for matrix, transposed in zip(matrices, (trans_a, trans_b))]


def _takes_out(torch: Any, writes: Callable[[Sequence[Any], Any], Call]) -> bool:
    """Whether this version of PyTorch has the call with `out`."""
    try:
        writes([torch.zeros(1, 1)], torch.zeros(1, 1))()
        return True
    except (TypeError, NotImplementedError, RuntimeError):
        return False
