"""The operations as a user who cares writes them in NumPy. Meanings: core/ops."""
from __future__ import annotations

from functools import partial
from typing import Any, Callable, Dict, List, Sequence

from libraries import load

from ..types import Call, Problem

Bind = Callable[[Sequence[Any], Any], Call]


class Ready:
    """`bind` of Built, and the scratch memory that all sets share."""

    def __init__(self, bind: Bind, scratch: Sequence[Any] = (), notes: Sequence[str] = ()) -> None:
        self.bind = bind
        self.scratch_bytes = sum(array.nbytes for array in scratch)
        self.notes: List[str] = list(notes)


def _numpy() -> Any:
    return load("numpy")[0]


def _unary(name: str) -> Callable[[Problem], Ready]:
    return lambda problem: Ready(lambda inputs, output: partial(getattr(_numpy(), name), inputs[0], out=output))


def _binary(name: str) -> Callable[[Problem], Ready]:
    return lambda problem: Ready(lambda inputs, output: partial(getattr(_numpy(), name), inputs[0], inputs[1], out=output))


def _copy(problem: Problem) -> Ready:
    return Ready(lambda inputs, output: partial(_numpy().copyto, output, inputs[0]))


def _gelu(problem: Problem) -> Ready:
    np = _numpy()
    erf: Any = load("scipy.special")[0].erf  # type: ignore[union-attr]
    root_half = np.float32(0.5**0.5)
    one = np.float32(1)
    half = np.float32(0.5)

    def bind(inputs: Sequence[Any], output: Any) -> Call:
        x = inputs[0]

        def call() -> None:
            np.multiply(x, root_half, out=output)
            erf(output, out=output)
            np.add(output, one, out=output)
            np.multiply(output, x, out=output)
            np.multiply(output, half, out=output)

        return call

    return Ready(bind, notes=["gelu is five calls: SciPy's erf between NumPy's arithmetic."])


def _sum(problem: Problem) -> Ready:
    axis = {"all": None, "last": 1, "first": 0}[problem.params["axis"]]

    def bind(inputs: Sequence[Any], output: Any) -> Call:
        return partial(_numpy().add.reduce, inputs[0], axis=axis, out=output.reshape(()) if axis is None else output)

    return Ready(bind)


def _softmax(problem: Problem) -> Ready:
    np = _numpy()
    rows = problem.dims[0]
    column = np.empty((rows, 1), np.float32)

    def bind(inputs: Sequence[Any], output: Any) -> Call:
        x = inputs[0]

        def call() -> None:
            np.maximum.reduce(x, axis=1, keepdims=True, out=column)
            np.subtract(x, column, out=output)
            np.exp(output, out=output)
            np.add.reduce(output, axis=1, keepdims=True, out=column)
            np.divide(output, column, out=output)

        return call

    return Ready(bind, [column], ["softmax is five calls of NumPy over the whole matrix."])


def _layer_norm(problem: Problem) -> Ready:
    np = _numpy()
    tokens, dim = problem.dims
    eps = np.float32(1e-5)
    mean, scale = np.empty((tokens, 1), np.float32), np.empty((tokens, 1), np.float32)
    squares = np.empty((tokens, dim), np.float32)

    def bind(inputs: Sequence[Any], output: Any) -> Call:
        x, weight, bias = inputs

        def call() -> None:
            np.mean(x, axis=1, keepdims=True, out=mean)
            np.subtract(x, mean, out=output)
            np.multiply(output, output, out=squares)
            np.mean(squares, axis=1, keepdims=True, out=scale)
            np.add(scale, eps, out=scale)
            np.sqrt(scale, out=scale)
            np.divide(output, scale, out=output)
            np.multiply(output, weight, out=output)
            np.add(output, bias, out=output)

        return call

    return Ready(bind, [mean, scale, squares], ["layer_norm is nine calls of NumPy, six of them over the whole matrix."])


def _matmul(problem: Problem) -> Ready:
    batch, _m, _n, _k, trans_a, trans_b = problem.dims

    def operand(array: Any, transposed: int) -> Any:
        matrix = array[0] if batch == 1 else array
        return matrix.swapaxes(-1, -2) if transposed else matrix

    def bind(inputs: Sequence[Any], output: Any) -> Call:
        return partial(_numpy().matmul, operand(inputs[0], trans_a), operand(inputs[1], trans_b), out=output[0] if batch == 1 else output)

    return Ready(bind)


READY: Dict[str, Callable[[Problem], Ready]] = {
    "copy": _copy,
    "add": _binary("add"),
    "mul": _binary("multiply"),
    "exp": _unary("exp"),
    "gelu": _gelu,
    "sum": _sum,
    "softmax": _softmax,
    "layer_norm": _layer_norm,
    "matmul": _matmul,
}
