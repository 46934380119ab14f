"""What each reduction does with its elements, once: `element` gives the term, `finish` the output of a total of COUNT terms. Meanings: core/ops.

KIND says how terms become a total. Terms and totals are f32.
"""
# The expressions are one line each, and compiled from their source text.
# fmt: off
from dataclasses import dataclass
from typing import Any

import triton
import triton.language as tl

ADD, MAX, MIN, ARGMAX, ARGMIN = range(5)


def itself(x, y): return x
def magnitude(x, y): return tl.abs(x)
def square(x, y): return x * x
def product(x, y): return x * y
def squared_difference(x, y): return (x - y) * (x - y)


def total(total, COUNT: tl.constexpr): return total
def average(total, COUNT: tl.constexpr): return total / COUNT
def root(total, COUNT: tl.constexpr): return tl.sqrt(total)


# fmt: on
_JIT = {name: triton.jit(function) for name, function in list(globals().items()) if callable(function) and getattr(function, "__module__", "") == __name__}


@dataclass(frozen=True)
class Reduction:
    kind: int
    element: Any
    finish: Any
    inputs: int = 1


def _entry(kind: int, element: str = "itself", finish: str = "total", inputs: int = 1) -> Reduction:
    return Reduction(kind, _JIT[element], _JIT[finish], inputs)


TABLE = {
    "sum": _entry(ADD),
    "sum_to_shape": _entry(ADD),
    "mean": _entry(ADD, finish="average"),
    "max": _entry(MAX),
    "min": _entry(MIN),
    "argmax": _entry(ARGMAX),
    "argmin": _entry(ARGMIN),
    "norm_l1": _entry(ADD, "magnitude"),
    "norm_l2": _entry(ADD, "square", "root"),
    "norm_linf": _entry(MAX, "magnitude"),
    "dot": _entry(ADD, "product", inputs=2),
    "mse_loss": _entry(ADD, "squared_difference", "average", inputs=2),
}
