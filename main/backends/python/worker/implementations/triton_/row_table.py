"""What each operation over rows does, once, whether a row stays in registers or is read twice. Values are f32; meanings: core/ops.

A row has two statistics. `gather` gives an element's part of them (`inside`: whether it is one), `merge` joins an element to those of its
lane (without one they are added up), `settle` makes those of the row from all lanes' parts (of COLS elements), and `apply` gives the output of an element. Besides its inputs
a and b an element has a pivot (its row's first a), the row's u and v (saved statistics, a gradient), and w and z of its column.
"""
from dataclasses import dataclass
from typing import Any, Tuple

import triton
import triton.language as tl


# Softmax: the largest element, and the sum of powers relative to it.
def power_gather(a, b, pivot, inside, w, u, v):
    return tl.where(inside, a, float("-inf")), tl.where(inside, 1.0, 0.0)


def power_merge(p, q, a, b, pivot, inside, w, u, v):
    a = tl.where(inside, a, float("-inf"))
    above = tl.maximum(p, a)
    # A lane without elements stays at minus infinity, whose distance to itself is no number.
    kept = tl.where(p == float("-inf"), 0.0, q * tl.exp(p - above))
    return above, kept + tl.where(inside, tl.exp(a - above), 0.0)


def power_settle(p, q, COLS: tl.constexpr, EPS: tl.constexpr, AXIS: tl.constexpr):
    top = tl.max(p, axis=AXIS, keep_dims=True)
    return top, tl.sum(q * tl.exp(p - top), axis=AXIS, keep_dims=True)


def softmax_apply(a, b, pivot, w, z, u, v, s, t, COLS: tl.constexpr):
    return tl.exp(a - s) * (1.0 / t)


def log_softmax_apply(a, b, pivot, w, z, u, v, s, t, COLS: tl.constexpr):
    return (a - s) - tl.log(t)


# b is 1 at the target and 0 elsewhere, u the gradient of the loss.
def cross_entropy_backward_apply(a, b, pivot, w, z, u, v, s, t, COLS: tl.constexpr):
    return (tl.exp(a - s) * (1.0 / t) - b) * u


# Sums of distances to the row's first element and of their squares: what cancels in the variance stays small.
def moment_gather(a, b, pivot, inside, w, u, v):
    distance = tl.where(inside, a - pivot, 0.0)
    return distance, distance * distance


def moment_settle(p, q, COLS: tl.constexpr, EPS: tl.constexpr, AXIS: tl.constexpr):
    distance = tl.sum(p, axis=AXIS, keep_dims=True) / COLS
    variance = tl.sum(q, axis=AXIS, keep_dims=True) / COLS - distance * distance
    return distance, 1.0 / tl.sqrt(tl.maximum(variance, 0.0) + EPS)


def layer_norm_apply(a, b, pivot, w, z, u, v, s, t, COLS: tl.constexpr):
    return ((a - pivot) - s) * t * w + z


def rms_settle(p, q, COLS: tl.constexpr, EPS: tl.constexpr, AXIS: tl.constexpr):
    mean = tl.sum(p, axis=AXIS, keep_dims=True) / COLS
    return mean, 1.0 / tl.sqrt(mean + EPS)


def rms_gather(a, b, pivot, inside, w, u, v):
    return tl.where(inside, a * a, 0.0), tl.zeros_like(a)


def rms_norm_apply(a, b, pivot, w, z, u, v, s, t, COLS: tl.constexpr):
    return a * t * w


def sum_settle(p, q, COLS: tl.constexpr, EPS: tl.constexpr, AXIS: tl.constexpr):
    return tl.sum(p, axis=AXIS, keep_dims=True), tl.sum(q, axis=AXIS, keep_dims=True)


# a is the gradient, b the output of softmax.
def softmax_backward_gather(a, b, pivot, inside, w, u, v):
    return tl.where(inside, a * b, 0.0), tl.zeros_like(a)


def softmax_backward_apply(a, b, pivot, w, z, u, v, s, t, COLS: tl.constexpr):
    return b * (a - s)


# a is the gradient, b the input, u its mean (0 for the root mean square) and v the saved reciprocal deviation.
def norm_backward_gather(a, b, pivot, inside, w, u, v):
    gradient = tl.where(inside, a * w, 0.0)
    return gradient, gradient * ((b - u) * v)


def layer_norm_backward_apply(a, b, pivot, w, z, u, v, s, t, COLS: tl.constexpr):
    return v * (a * w - s / COLS - (b - u) * v * (t / COLS))


def rms_norm_backward_apply(a, b, pivot, w, z, u, v, s, t, COLS: tl.constexpr):
    return v * (a * w - (b - u) * v * (t / COLS))


_JIT = {name: triton.jit(function) for name, function in list(globals().items()) if callable(function) and getattr(function, "__module__", "") == __name__}


@dataclass(frozen=True)
class RowOp:
    gather: Any
    merge: Any
    settle: Any
    apply: Any
    # Names of the tensors in the order of the op: a and b of elements, w and z of columns, u and v of rows, target (the class whose b is 1), loss (its gradient).
    reads: Tuple[str, ...]

    def has(self, name: str) -> bool:
        return name in self.reads


def _entry(statistics: str, settle: str, apply: str, *reads: str, merge: str = "sum") -> RowOp:
    return RowOp(_JIT[statistics + "_gather"], _JIT.get(merge + "_merge"), _JIT[settle + "_settle"], _JIT[apply + "_apply"], reads)


TABLE = {
    "softmax": _entry("power", "power", "softmax", "a", merge="power"),
    "log_softmax": _entry("power", "power", "log_softmax", "a", merge="power"),
    "cross_entropy_backward": _entry("power", "power", "cross_entropy_backward", "a", "target", "loss", merge="power"),
    "layer_norm": _entry("moment", "moment", "layer_norm", "a", "w", "z"),
    "group_norm": _entry("moment", "moment", "layer_norm", "a", "w", "z"),
    "rms_norm": _entry("rms", "rms", "rms_norm", "a", "w"),
    "softmax_backward": _entry("softmax_backward", "sum", "softmax_backward", "a", "b"),
    "layer_norm_backward": _entry("norm_backward", "sum", "layer_norm_backward", "a", "b", "w", "u", "v"),
    "rms_norm_backward": _entry("norm_backward", "sum", "rms_norm_backward", "a", "b", "w", "v"),
}
