"""The NumPy calls of each operation, as a user who cares writes them: `out=` everywhere, scratch memory allocated once. Meanings: core/ops.

An operation is one entry of TABLE. What is not here is a hole.
"""
from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from libraries import load

from ..types import Problem

# Gives f(*inputs, *scratch, out=); what depends on the case alone is decided here. Arguments: numpy, problem.
Make = Callable[[Any, Problem], Callable[..., Any]]
Shape = Tuple[int, ...]
Arrays = Tuple[Sequence[Any], Sequence[Any]]


@dataclass(frozen=True)
class Entry:
    make: Make
    # Calls of NumPy in one call of ours: above one, it says so on the result.
    calls: int = 1
    # Shapes of f32 arrays that calls need beside the output.
    scratch: Callable[[Problem], Sequence[Shape]] = lambda problem: ()
    # Views of the inputs and outputs as the function takes them.
    arrange: Callable[[Problem, Sequence[Any], Sequence[Any]], Arrays] = lambda problem, inputs, outputs: (inputs, outputs)
    # Takes no `out` and returns an array instead.
    allocates: bool = False
    # Whether NumPy's own threads compute it.
    threads: bool = False
    # One call that adds up many elements.
    sums: bool = False
    # Another module that it calls.
    needs: Optional[str] = None

    @property
    def dtypes(self) -> List[str]:
        """In 16 bits only what is one call, as values are rounded between calls, and no sum, which is rounded as it goes."""
        return ["f32", "f16"] if self.calls == 1 and not self.sums else ["f32"]


def call(name: str, *constants: Any) -> Entry:
    """numpy.<name>(*inputs, *constants, out=)."""
    return Entry(lambda np, problem: getattr(np, name) if not constants else lambda *arrays, out: getattr(np, name)(*arrays, *constants, out=out))


def _whole(problem: Problem) -> Sequence[Shape]:
    return (problem.tensors[0].shape,)


def _column(problem: Problem) -> Shape:
    return (problem.tensors[0].shape[0], 1)


def _axes(problem: Problem) -> Shape:
    """Axes of x that a reduction's word names. A matrix is what a batch of one is read as."""
    rank = len(problem.tensors[0].shape)
    return {"all": tuple(range(rank)), "last": (rank - 1,), "first": (0,), "first_last": (0, 2) if rank == 3 else (rank - 1,)}[problem.params["axis"]]


def _scalar_output(problem: Problem, inputs: Sequence[Any], outputs: Sequence[Any]) -> Arrays:
    """NumPy's full reductions have no dimension, ours one of one element."""
    return inputs, [output.reshape(()) if problem.params.get("axis", "all") == "all" else output for output in outputs]


def reduction(make: Callable[[Any, Problem, Shape], Callable[..., Any]], calls: int = 1, scratch: Callable[[Problem], Sequence[Shape]] = lambda problem: (), sums: bool = False) -> Entry:
    return Entry(lambda np, problem: make(np, problem, _axes(problem)), calls, scratch, _scalar_output, sums=sums)


def index(name: str) -> Entry:
    """NumPy's indices are of the platform's width, so they are returned and converted afterwards."""

    def make(np: Any, problem: Problem) -> Callable[..., Any]:
        function, axes, rank = getattr(np, name), _axes(problem), len(problem.tensors[0].shape)
        if len(axes) == rank:
            return lambda x: function(x)
        if len(axes) == 1:
            return lambda x: function(x, axes[0])
        kept = [axis for axis in range(rank) if axis not in axes]
        extents = [problem.tensors[0].shape[axis] for axis in kept]
        return lambda x: function(x.transpose(*kept, *axes).reshape(*extents, -1), -1)

    return Entry(make, allocates=True)


def _matmul_operands(problem: Problem, inputs: Sequence[Any], outputs: Sequence[Any]) -> Arrays:
    batch, _m, _n, _k, trans_a, trans_b = problem.dims
    plain = [[array[0] if batch == 1 else array for array in arrays] for arrays in (inputs, outputs)]
    return [matrix.swapaxes(-1, -2) if transposed else matrix for matrix, transposed in zip(plain[0], (trans_a, trans_b))], plain[1]


def _erf(np: Any) -> Any:
    """NumPy has no error function; SciPy brings one that takes arrays."""
    return getattr(np, "erf", None) or load("scipy.special")[0].erf  # type: ignore[union-attr]


def _gelu(np: Any, problem: Problem) -> Callable[..., Any]:
    erf = _erf(np)

    def function(x: Any, out: Any) -> None:
        np.multiply(x, 0.5**0.5, out=out)
        erf(out, out=out)
        np.add(out, 1, out=out)
        np.multiply(out, x, out=out)
        np.multiply(out, 0.5, out=out)

    return function


def _gelu_tanh(np: Any, problem: Problem) -> Callable[..., Any]:
    twice = -2 * (2 / np.pi) ** 0.5

    def function(x: Any, out: Any) -> None:
        """x / (1 + exp(-2 u)), which is x (1 + tanh(u)) / 2."""
        np.multiply(x, x, out=out)
        np.multiply(out, 0.044715, out=out)
        np.add(out, 1, out=out)
        np.multiply(out, x, out=out)
        np.multiply(out, twice, out=out)
        np.exp(out, out=out)
        np.add(out, 1, out=out)
        np.divide(x, out, out=out)

    return function


def _sigmoid_into(np: Any, x: Any, numerator: Any, out: Any) -> None:
    """numerator / (1 + exp(-x))."""
    np.negative(x, out=out)
    np.exp(out, out=out)
    np.add(out, 1, out=out)
    np.divide(numerator, out, out=out)


def _swiglu(np: Any, problem: Problem) -> Callable[..., Any]:
    def function(a: Any, b: Any, out: Any) -> None:
        _sigmoid_into(np, a, a, out)
        np.multiply(out, b, out=out)

    return function


def _silu_backward(np: Any, problem: Problem) -> Callable[..., Any]:
    def function(grad: Any, x: Any, rest: Any, out: Any) -> None:
        """grad s (1 + x (1 - s)) with s = sigmoid(x)."""
        _sigmoid_into(np, x, 1, out)
        np.subtract(1, out, out=rest)
        np.multiply(rest, x, out=rest)
        np.add(rest, 1, out=rest)
        np.multiply(out, rest, out=out)
        np.multiply(out, grad, out=out)

    return function


def _gelu_backward(np: Any, problem: Problem) -> Callable[..., Any]:
    erf = _erf(np)
    density = 1 / (2 * np.pi) ** 0.5

    def function(grad: Any, x: Any, rest: Any, out: Any) -> None:
        """grad (Phi(x) + x phi(x))."""
        np.multiply(x, 0.5**0.5, out=out)
        erf(out, out=out)
        np.add(out, 1, out=out)
        np.multiply(out, 0.5, out=out)
        np.multiply(x, x, out=rest)
        np.multiply(rest, -0.5, out=rest)
        np.exp(rest, out=rest)
        np.multiply(rest, x, out=rest)
        np.multiply(rest, density, out=rest)
        np.add(out, rest, out=out)
        np.multiply(out, grad, out=out)

    return function


def _lerp(np: Any, problem: Problem) -> Callable[..., Any]:
    weight = problem.params["weight"]
    return lambda a, b, out: np.add(np.multiply(np.subtract(b, a, out=out), weight, out=out), a, out=out)


def _norm_l1(np: Any, problem: Problem, axes: Shape) -> Callable[..., Any]:
    return lambda x, absolute, out: np.add.reduce(np.abs(x, out=absolute), axis=axes, out=out)


def _norm_l2(np: Any, problem: Problem, axes: Shape) -> Callable[..., Any]:
    return lambda x, squares, out: np.sqrt(np.add.reduce(np.multiply(x, x, out=squares), axis=axes, out=out), out=out)


def _norm_linf(np: Any, problem: Problem, axes: Shape) -> Callable[..., Any]:
    return lambda x, absolute, out: np.maximum.reduce(np.abs(x, out=absolute), axis=axes, out=out)


def _mse_loss(np: Any, problem: Problem) -> Callable[..., Any]:
    return lambda x, target, difference, out: np.mean(np.square(np.subtract(x, target, out=difference), out=difference), out=out)


def _sum_to_shape(np: Any, problem: Problem) -> Callable[..., Any]:
    axes = {"row": (0,), "column": (1,), "scalar": (0, 1)}[problem.params["broadcast"]]
    return lambda grad, out: np.add.reduce(grad, axis=axes, keepdims=True, out=out)


def _softmax(np: Any, problem: Problem) -> Callable[..., Any]:
    def function(x: Any, column: Any, out: Any) -> None:
        np.maximum.reduce(x, axis=1, keepdims=True, out=column)
        np.subtract(x, column, out=out)
        np.exp(out, out=out)
        np.add.reduce(out, axis=1, keepdims=True, out=column)
        np.divide(out, column, out=out)

    return function


def _log_softmax(np: Any, problem: Problem) -> Callable[..., Any]:
    def function(x: Any, powers: Any, column: Any, out: Any) -> None:
        np.maximum.reduce(x, axis=1, keepdims=True, out=column)
        np.subtract(x, column, out=out)
        np.exp(out, out=powers)
        np.add.reduce(powers, axis=1, keepdims=True, out=column)
        np.log(column, out=column)
        np.subtract(out, column, out=out)

    return function


def _layer_norm(np: Any, problem: Problem) -> Callable[..., Any]:
    eps = problem.params["eps"]

    def function(x: Any, weight: Any, bias: Any, squares: Any, mean: Any, scale: Any, out: Any) -> None:
        np.mean(x, axis=1, keepdims=True, out=mean)
        np.subtract(x, mean, out=out)
        np.multiply(out, out, out=squares)
        np.mean(squares, axis=1, keepdims=True, out=scale)
        np.add(scale, eps, out=scale)
        np.sqrt(scale, out=scale)
        np.divide(out, scale, out=out)
        np.multiply(out, weight, out=out)
        np.add(out, bias, out=out)

    return function


def _rms_norm(np: Any, problem: Problem) -> Callable[..., Any]:
    eps = problem.params["eps"]

    def function(x: Any, weight: Any, scale: Any, out: Any) -> None:
        np.multiply(x, x, out=out)
        np.mean(out, axis=1, keepdims=True, out=scale)
        np.add(scale, eps, out=scale)
        np.sqrt(scale, out=scale)
        np.divide(x, scale, out=out)
        np.multiply(out, weight, out=out)

    return function


TABLE: Dict[str, Entry] = {
    "copy": Entry(lambda np, p: lambda x, out: np.copyto(out, x)),
    "transpose": Entry(lambda np, p: lambda x, out: np.copyto(out, x.T)),

    "add": call("add"),
    "sub": call("subtract"),
    "mul": call("multiply"),
    "div": call("divide"),
    "fma": Entry(lambda np, p: lambda a, b, c, out: np.add(np.multiply(a, b, out=out), c, out=out), calls=2),
    "lerp": Entry(_lerp, calls=3),
    "scale": Entry(lambda np, p: lambda x, out: np.multiply(x, p.params["factor"], out=out)),
    "clamp": Entry(lambda np, p: lambda x, out: np.clip(x, p.params["min"], p.params["max"], out=out)),

    "abs": call("abs"),
    "neg": call("negative"),
    "exp": call("exp"),
    "log": call("log"),
    "sqrt": call("sqrt"),
    "rsqrt": Entry(lambda np, p: lambda x, out: np.reciprocal(np.sqrt(x, out=out), out=out), calls=2),

    "relu": call("maximum", 0),
    "hardswish": Entry(lambda np, p: lambda x, out: np.divide(np.multiply(np.clip(np.add(x, 3, out=out), 0, 6, out=out), x, out=out), 6, out=out), calls=4),
    "sigmoid": Entry(lambda np, p: lambda x, out: _sigmoid_into(np, x, 1, out), calls=4),
    "tanh": call("tanh"),
    "gelu": Entry(_gelu, calls=5, needs="scipy.special"),
    "gelu_tanh": Entry(_gelu_tanh, calls=8),
    "silu": Entry(lambda np, p: lambda x, out: _sigmoid_into(np, x, x, out), calls=4),
    "swiglu": Entry(_swiglu, calls=5),
    "gelu_backward": Entry(_gelu_backward, calls=11, scratch=_whole, needs="scipy.special"),
    "silu_backward": Entry(_silu_backward, calls=9, scratch=_whole),

    "sum": reduction(lambda np, p, axes: partial(np.add.reduce, axis=axes), sums=True),
    "mean": reduction(lambda np, p, axes: partial(np.mean, axis=axes), sums=True),
    "max": reduction(lambda np, p, axes: partial(np.maximum.reduce, axis=axes)),
    "min": reduction(lambda np, p, axes: partial(np.minimum.reduce, axis=axes)),
    "argmax": index("argmax"),
    "argmin": index("argmin"),
    "norm_l1": reduction(_norm_l1, calls=2, scratch=_whole),
    "norm_l2": reduction(_norm_l2, calls=3, scratch=_whole),
    "norm_linf": reduction(_norm_linf, calls=2, scratch=_whole),
    "sum_to_shape": Entry(_sum_to_shape, sums=True),
    "dot": Entry(lambda np, p: np.dot, arrange=_scalar_output, threads=True),
    "mse_loss": Entry(_mse_loss, calls=3, scratch=_whole, arrange=_scalar_output),

    "softmax": Entry(_softmax, calls=5, scratch=lambda p: (_column(p),)),
    "log_softmax": Entry(_log_softmax, calls=6, scratch=lambda p: (*_whole(p), _column(p))),
    "layer_norm": Entry(_layer_norm, calls=9, scratch=lambda p: (*_whole(p), _column(p), _column(p))),
    "rms_norm": Entry(_rms_norm, calls=6, scratch=lambda p: (_column(p),)),

    "matmul": Entry(lambda np, p: np.matmul, arrange=_matmul_operands, threads=True),
}
