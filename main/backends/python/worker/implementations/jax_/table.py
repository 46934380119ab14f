"""What JAX computes for each operation, once, as jit compiles it. Meanings: core/ops.

An operation is one entry of TABLE: make(jax, problem) gives the function of the input arrays. What is not here is a hole. 16-bit
values of element-wise and row operations are taken to f32 first, which the compiled kernel does in registers.
"""
from __future__ import annotations

from typing import Any, Callable, Dict, Sequence, Tuple

from ..types import Problem

Function = Callable[..., Any]
Make = Callable[[Any, Problem], Function]


def plain(of: Callable[[Any], Function]) -> Make:
    """A function of jax.numpy in the dtype of its inputs."""
    return lambda jax, problem: of(jax.numpy)


def wide(make: Make) -> Make:
    """Computed in f32, whatever the floats of the inputs are; outputs have the storage that core/ops states."""

    def made(jax: Any, problem: Problem) -> Function:
        jnp, function = jax.numpy, make(jax, problem)
        if problem.dtype not in ("f16", "bf16"):
            return function
        kinds = {"f32": jnp.float32, "f16": jnp.float16, "bf16": jnp.bfloat16, "i32": jnp.int32}
        storages = [kinds[tensor.storage] for tensor in problem.outputs()]

        def narrow(*inputs: Any) -> Any:
            results = function(*(x.astype(jnp.float32) if jnp.issubdtype(x.dtype, jnp.floating) else x for x in inputs))
            several = isinstance(results, tuple)
            cast = tuple(result.astype(kind) for result, kind in zip(results if several else (results,), storages))
            return cast if several else cast[0]

        return narrow

    return made


def element(of: Callable[[Any], Function]) -> Make:
    return wide(lambda jax, problem: of(jax.numpy))


def _axes(problem: Problem) -> Tuple[int, ...]:
    rank = len(problem.tensors[0].shape)
    return {"all": tuple(range(rank)), "last": (rank - 1,), "first": (0,), "first_last": (0, 2) if rank == 3 else (rank - 1,)}[problem.params["axis"]]


def reduction(of: Callable[[Any, Any, Tuple[int, ...]], Any]) -> Make:
    return wide(lambda jax, problem: lambda x: of(jax.numpy, x, _axes(problem)))


def index(name: str) -> Make:
    """The index over one axis, or over several as one."""

    def make(jax: Any, problem: Problem) -> Function:
        axes, function = _axes(problem), getattr(jax.numpy, name)
        kept = [axis for axis in range(len(problem.tensors[0].shape)) if axis not in axes]
        return lambda x: function(x.transpose(*kept, *axes).reshape(*(x.shape[axis] for axis in kept), -1), -1)

    return make


def _moments(jnp: Any, x: Any, axes: Any, eps: float) -> Tuple[Any, Any]:
    mean = jnp.mean(x, axes, keepdims=True)
    return mean, 1 / jnp.sqrt(jnp.mean(jnp.square(x - mean), axes, keepdims=True) + eps)


def _layer_norm(jax: Any, problem: Problem) -> Function:
    jnp, eps = jax.numpy, problem.params["eps"]

    def function(x: Any, weight: Any, bias: Any) -> Any:
        mean, rstd = _moments(jnp, x, -1, eps)
        return (x - mean) * rstd * weight + bias

    return function


def _rms_norm(jax: Any, problem: Problem) -> Function:
    jnp, eps = jax.numpy, problem.params["eps"]
    return lambda x, weight: x / jnp.sqrt(jnp.mean(jnp.square(x), -1, keepdims=True) + eps) * weight


def _group_norm(jax: Any, problem: Problem) -> Function:
    jnp, eps, groups = jax.numpy, problem.params["eps"], problem.params["groups"]

    def function(x: Any, weight: Any, bias: Any) -> Any:
        parts = x.reshape(x.shape[0], groups, -1)
        mean, rstd = _moments(jnp, parts, -1, eps)
        return ((parts - mean) * rstd).reshape(x.shape) * weight[:, None, None] + bias[:, None, None]

    return function


def _batch_norm(jax: Any, problem: Problem) -> Function:
    jnp, eps = jax.numpy, problem.params["eps"]

    def training(x: Any, weight: Any, bias: Any) -> Any:
        mean, rstd = _moments(jnp, x, (0, 2, 3), eps)
        return (x - mean) * rstd * weight[:, None, None] + bias[:, None, None], mean.reshape(-1), rstd.reshape(-1)

    def inference(x: Any, weight: Any, bias: Any, mean: Any, variance: Any) -> Any:
        return (x - mean[:, None, None]) * (weight / jnp.sqrt(variance + eps))[:, None, None] + bias[:, None, None]

    return training if problem.params["training"] else inference


def _layer_norm_backward(jax: Any, problem: Problem) -> Function:
    jnp = jax.numpy

    def function(grad: Any, x: Any, weight: Any, mean: Any, rstd: Any) -> Any:
        normal, inner = (x - mean[:, None]) * rstd[:, None], grad * weight
        dx = rstd[:, None] * (inner - jnp.mean(inner, -1, keepdims=True) - normal * jnp.mean(inner * normal, -1, keepdims=True))
        return dx, jnp.sum(grad * normal, 0), jnp.sum(grad, 0)

    return function


def _rms_norm_backward(jax: Any, problem: Problem) -> Function:
    jnp = jax.numpy

    def function(grad: Any, x: Any, weight: Any, rstd: Any) -> Any:
        normal, inner = x * rstd[:, None], grad * weight
        return rstd[:, None] * (inner - normal * jnp.mean(inner * normal, -1, keepdims=True)), jnp.sum(grad * normal, 0)

    return function


def _cross_entropy(jax: Any, problem: Problem) -> Function:
    jnp = jax.numpy

    def function(logits: Any, target: Any) -> Any:
        chosen = jnp.take_along_axis(logits, target[:, None], -1, mode="promise_in_bounds")[:, 0]
        return jnp.mean(jax.nn.logsumexp(logits, -1) - chosen)

    return function


def _cross_entropy_backward(jax: Any, problem: Problem) -> Function:
    jnp, (tokens, classes) = jax.numpy, problem.tensors[0].shape
    return lambda logits, target, grad: (jax.nn.softmax(logits, -1) - (jnp.arange(classes) == target[:, None])) * (grad / tokens)


def _gradient(forward: Callable[[Any], Function]) -> Make:
    """The gradient that JAX derives of an element-wise function."""
    return wide(lambda jax, problem: lambda grad, x: jax.vjp(forward(jax), x)[1](grad)[0])


def _matmul(jax: Any, problem: Problem) -> Function:
    _batch, _m, _n, _k, trans_a, trans_b = problem.dims
    return lambda a, b: jax.numpy.matmul(a.mT if trans_a else a, b.mT if trans_b else b)


def _attention(jax: Any, problem: Problem) -> Function:
    causal = problem.params["causal"]
    return lambda q, k, v: jax.nn.dot_product_attention(q.swapaxes(1, 2), k.swapaxes(1, 2), v.swapaxes(1, 2), is_causal=causal).swapaxes(1, 2)


def convolution(axes: int) -> Make:
    def make(jax: Any, problem: Problem) -> Function:
        p = problem.params
        padding = [p["paddingHeight"], p["paddingWidth"]] if axes == 2 else [p["padding"]] * axes
        return lambda x, weight: jax.lax.conv_general_dilated(x, weight, [p["stride"]] * axes, [(n, n) for n in padding], rhs_dilation=[p["dilation"]] * axes, feature_group_count=p["groups"])

    return make


def pooling(axes: int, average: bool) -> Make:
    def make(jax: Any, problem: Problem) -> Function:
        p, lax = problem.params, jax.lax
        window, strides = (1, 1, *[p["kernel"]] * axes), (1, 1, *[p["stride"]] * axes)
        padding = [(0, 0), (0, 0), *[(p["padding"], p["padding"])] * axes]
        if average:
            return lambda x: lax.reduce_window(x, 0.0, lax.add, window, strides, padding) / p["kernel"] ** axes
        return lambda x: lax.reduce_window(x, -float("inf"), lax.max, window, strides, padding)

    return wide(make)


def _sort(jax: Any, problem: Problem) -> Function:
    descending = problem.params["descending"]

    def function(x: Any) -> Any:
        # The key of a descending order that leaves equal values in theirs.
        places = jax.lax.broadcasted_iota(jax.numpy.int32, x.shape, 1)
        _key, order, values = jax.lax.sort((-x if descending else x, places, x), dimension=1, num_keys=1, is_stable=True)
        return values, order

    return function


def _rope(jax: Any, problem: Problem) -> Function:
    jnp, half = jax.numpy, problem.tensors[0].shape[-1] // 2

    def function(x: Any, cos: Any, sin: Any) -> Any:
        cos, sin = cos[:, None], sin[:, None]
        if problem.params["interleaved"]:
            a, b = x[..., 0::2], x[..., 1::2]
            return jnp.stack((a * cos - b * sin, b * cos + a * sin), -1).reshape(x.shape)
        a, b = x[..., :half], x[..., half:]
        return jnp.concatenate((a * cos - b * sin, b * cos + a * sin), -1)

    return function


def _adamw(jax: Any, problem: Problem) -> Function:
    p = problem.params

    def function(param: Any, grad: Any, m: Any, v: Any) -> Any:
        m, v = p["beta1"] * m + (1 - p["beta1"]) * grad, p["beta2"] * v + (1 - p["beta2"]) * grad * grad
        rate, spread = p["lr"] / (1 - p["beta1"] ** p["step"]), 1 - p["beta2"] ** p["step"]
        return param * (1 - p["lr"] * p["weightDecay"]) - rate * m / (jax.numpy.sqrt(v / spread) + p["eps"]), m, v

    return function


def _broadcast_axes(problem: Problem) -> Sequence[int]:
    return {"row": (0,), "column": (1,), "scalar": (0, 1)}[problem.params["broadcast"]]


TABLE: Dict[str, Make] = {
    "copy": plain(lambda jnp: jnp.copy),
    "transpose": plain(lambda jnp: lambda x: jnp.transpose(x)),
    **{name: element(lambda jnp, name=name: getattr(jnp, name)) for name in ("abs", "exp", "log", "sqrt", "tanh")},  # type: ignore[misc]
    "add": element(lambda jnp: jnp.add),
    "sub": element(lambda jnp: jnp.subtract),
    "mul": element(lambda jnp: jnp.multiply),
    "div": element(lambda jnp: jnp.divide),
    "fma": element(lambda jnp: lambda a, b, c: a * b + c),
    "neg": element(lambda jnp: jnp.negative),
    "rsqrt": wide(lambda jax, problem: jax.lax.rsqrt),
    "lerp": wide(lambda jax, problem: lambda a, b: a + problem.params["weight"] * (b - a)),
    "scale": wide(lambda jax, problem: lambda x: x * problem.params["factor"]),
    "clamp": wide(lambda jax, problem: lambda x: jax.numpy.minimum(jax.numpy.maximum(x, problem.params["min"]), problem.params["max"])),
    "relu": wide(lambda jax, problem: jax.nn.relu),
    "hardswish": wide(lambda jax, problem: jax.nn.hard_swish),
    "sigmoid": wide(lambda jax, problem: jax.nn.sigmoid),
    "silu": wide(lambda jax, problem: jax.nn.silu),
    "gelu": wide(lambda jax, problem: lambda x: jax.nn.gelu(x, approximate=False)),
    "gelu_tanh": wide(lambda jax, problem: lambda x: jax.nn.gelu(x, approximate=True)),
    "gelu_backward": _gradient(lambda jax: lambda x: jax.nn.gelu(x, approximate=False)),
    "silu_backward": _gradient(lambda jax: jax.nn.silu),
    "swiglu": wide(lambda jax, problem: lambda a, b: jax.nn.silu(a) * b),
    "sum": reduction(lambda jnp, x, axes: jnp.sum(x, axes)),
    "mean": reduction(lambda jnp, x, axes: jnp.mean(x, axes)),
    "max": reduction(lambda jnp, x, axes: jnp.max(x, axes)),
    "min": reduction(lambda jnp, x, axes: jnp.min(x, axes)),
    "argmax": index("argmax"),
    "argmin": index("argmin"),
    "norm_l1": reduction(lambda jnp, x, axes: jnp.sum(jnp.abs(x), axes)),
    "norm_l2": reduction(lambda jnp, x, axes: jnp.sqrt(jnp.sum(jnp.square(x), axes))),
    "norm_linf": reduction(lambda jnp, x, axes: jnp.max(jnp.abs(x), axes)),
    "sum_to_shape": wide(lambda jax, problem: lambda grad: jax.numpy.sum(grad, _broadcast_axes(problem), keepdims=True)),
    "dot": element(lambda jnp: jnp.dot),
    "mse_loss": element(lambda jnp: lambda x, target: jnp.mean(jnp.square(x - target))),
    "cross_entropy": wide(_cross_entropy),
    "cross_entropy_backward": wide(_cross_entropy_backward),
    "softmax": wide(lambda jax, problem: lambda x: jax.nn.softmax(x, -1)),
    "log_softmax": wide(lambda jax, problem: lambda x: jax.nn.log_softmax(x, -1)),
    "softmax_backward": element(lambda jnp: lambda grad, y: y * (grad - jnp.sum(grad * y, -1, keepdims=True))),
    "layer_norm": wide(_layer_norm),
    "rms_norm": wide(_rms_norm),
    "group_norm": wide(_group_norm),
    "batch_norm": wide(_batch_norm),
    "layer_norm_backward": wide(_layer_norm_backward),
    "rms_norm_backward": wide(_rms_norm_backward),
    "matmul": _matmul,
    "scaled_dot_product_attention": _attention,
    **{"conv%dd" % axes: convolution(axes) for axes in (1, 2, 3)},
    **{"%s_pool%dd" % (kind, axes): pooling(axes, kind == "avg") for kind in ("max", "avg") for axes in (1, 2)},
    "embedding": plain(lambda jnp: lambda indices, weight: weight.at[indices].get(mode="promise_in_bounds")),
    "gather": plain(lambda jnp: lambda x, index: jnp.take_along_axis(x, index, 0, mode="promise_in_bounds")),
    "scatter_add": wide(lambda jax, problem: lambda x, index, src: x.at[index].add(src, mode="promise_in_bounds")),
    "cumsum": element(lambda jnp: lambda x: jnp.cumsum(x, -1)),
    "sort": _sort,
    "topk": lambda jax, problem: lambda x: tuple(jax.lax.top_k(x, problem.params["k"])),
    "rope": wide(_rope),
    "adamw_step": wide(_adamw),
}
# Products in tf32, by JAX's precision setting.
TF32 = ("matmul", "conv1d", "conv2d", "conv3d")
