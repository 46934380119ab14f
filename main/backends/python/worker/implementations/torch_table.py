"""The PyTorch call of each operation, once: eager and torch.compile share it. Meanings: core/ops.

An operation is one entry of TABLE. What is not here is a hole.
"""
from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import partial
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from failures import CaseFailure
from libraries import release_of

from .types import Problem

# Gives the function of the input tensors; what depends on the case alone is decided here. Arguments: torch, problem.
Make = Callable[[Any, Problem], Callable[..., Any]]
Arrays = Tuple[Sequence[Any], Sequence[Any]]
# Views of the inputs and outputs as the function takes them.
Arrange = Callable[[Problem, Sequence[Any], Sequence[Any]], Arrays]

FLOATS = ("f32", "f16", "bf16")
# The oldest release whose operations were checked on the CPU in 8 and 16 bits. Earlier ones lack some in f16.
HALVES_ON_CPU = (2, 11)


@dataclass(frozen=True)
class Entry:
    make: Make
    # The parameter that takes the output; None where every call allocates it.
    out: Optional[str] = None
    # Whether every version of PyTorch has that parameter.
    out_everywhere: bool = True
    # Writes to its last argument, the output, where that is another function than `make`'s.
    into: Optional[Make] = None
    arrange: Arrange = lambda problem, inputs, outputs: (inputs, outputs)
    # The function changes its `inout` tensors and returns nothing of use.
    in_place: bool = False
    # Whether torch.compile's own kernels compute it, which then write to the output. Else it comes from a library.
    fused: bool = True
    # On a GPU; the CPU has no tf32, and before HALVES_ON_CPU f32 alone.
    dtypes: Sequence[str] = FLOATS
    # On the CPU it rounds to 16 bits on the way, or takes none: f32 alone there.
    rounds_on_cpu: bool = False
    # Multiplies matrices: in 16 bits that oneDNN does not multiply on this processor, PyTorch takes a hundred times as long.
    product: bool = False
    # `nn.functional.rms_norm`: an attribute of torch without which there is no such call in this version.
    needs: Optional[str] = None
    note: Optional[str] = None

    def present(self, torch: Any) -> bool:
        found = torch
        for name in (self.needs or "").split(".") if self.needs else ():
            found = getattr(found, name, None)
        return found is not None


def call(name: str, *constants: Any, **attributes: str) -> Entry:
    """torch.<name>(*inputs, *constants) with attributes of the case as keywords; it takes `out`."""

    def make(torch: Any, problem: Problem) -> Callable[..., Any]:
        function = getattr(torch, name)
        named = {key: problem.params[attribute] for key, attribute in attributes.items()}
        if not constants:
            return partial(function, **named) if named else function
        return lambda *tensors, **out: function(*tensors, *constants, **named, **out)

    return Entry(make, out="out")


def _axes(problem: Problem) -> Tuple[int, ...]:
    """Axes of x that a reduction's word names. A matrix is what a batch of one is read as."""
    rank = len(problem.tensors[0].shape)
    return {"all": tuple(range(rank)), "last": (rank - 1,), "first": (0,), "first_last": (0, 2) if rank == 3 else (rank - 1,)}[problem.params["axis"]]


def _scalar_output(problem: Problem, inputs: Sequence[Any], outputs: Sequence[Any]) -> Arrays:
    """PyTorch's full reductions have no dimension, ours one of one element."""
    return inputs, [output.view(()) if tuple(output.shape) == (1,) and problem.params.get("axis", "all") == "all" else output for output in outputs]


def reduction(function: Callable[[Any], Callable[..., Any]]) -> Entry:
    """`function` of torch gives f(x, dim, out=)."""

    def make(torch: Any, problem: Problem) -> Callable[..., Any]:
        reduce, axes = function(torch), _axes(problem)
        return lambda x, **out: reduce(x, axes, **out)

    return Entry(make, out="out", arrange=_scalar_output)


def index(name: str) -> Entry:
    """torch.<name> over one axis, or over several as one. PyTorch's indices are int64, so they are returned and converted afterwards."""

    def make(torch: Any, problem: Problem) -> Callable[..., Any]:
        function, axes = getattr(torch, name), _axes(problem)
        rank = len(problem.tensors[0].shape)
        if len(axes) == 1:
            return lambda x: function(x, axes[0])
        if len(axes) == rank:
            return lambda x: function(x)
        kept = [axis for axis in range(rank) if axis not in axes]
        return lambda x: function(x.permute(*kept, *axes).flatten(len(kept)), -1)

    return Entry(make, note=INT64)


def _matmul_operands(problem: Problem, inputs: Sequence[Any], outputs: Sequence[Any]) -> Arrays:
    """Both matrices as torch.matmul takes them; a batch of one as plain matrices, which a user would have."""
    batch, _m, _n, _k, trans_a, trans_b = problem.dims
    plain = [[array[0] if batch == 1 else array for array in arrays] for arrays in (inputs, outputs)]
    return [matrix.transpose(-1, -2) if transposed else matrix for matrix, transposed in zip(plain[0], (trans_a, trans_b))], plain[1]


def _sum_to_shape(torch: Any, problem: Problem) -> Callable[..., Any]:
    axes = {"row": (0,), "column": (1,), "scalar": (0, 1)}[problem.params["broadcast"]]
    return lambda grad, **out: torch.sum(grad, axes, True, **out)


def _adamw(torch: Any, problem: Problem) -> Callable[..., Any]:
    p = problem.params
    # The module's name in torch.optim may be that of nothing or of a function.
    functional = importlib.import_module("torch.optim.adamw").adamw
    settings = {"beta1": p["beta1"], "beta2": p["beta2"], "lr": p["lr"], "weight_decay": p["weightDecay"], "eps": p["eps"], "amsgrad": False, "maximize": False}
    step = torch.tensor(0.0)
    before = float(p["step"] - 1)

    def function(param: Any, grad: Any, m: Any, v: Any) -> None:
        step.fill_(before)  # Each call is the same step.
        functional([param], [grad], [m], [v], [], [step], **settings)

    return function


def _batch_norm(torch: Any, problem: Problem) -> Callable[..., Any]:
    eps = problem.params["eps"]
    if problem.params["training"]:
        return lambda x, weight, bias: torch.native_batch_norm(x, weight, bias, None, None, True, 0.0, eps)
    return lambda x, weight, bias, mean, variance: torch.nn.functional.batch_norm(x, mean, variance, weight, bias, False, 0.0, eps)


def _transformer_block(torch: Any, problem: Problem) -> Callable[..., Any]:
    batch, seq, dim, heads, _ratio = problem.dims
    functional = torch.nn.functional

    def function(x: Any, qkv: Any, qkv_bias: Any, proj: Any, proj_bias: Any, fc1: Any, fc1_bias: Any, fc2: Any, fc2_bias: Any, norm1: Any, norm1_bias: Any, norm2: Any, norm2_bias: Any) -> Any:
        normed = functional.layer_norm(x, [dim], norm1, norm1_bias)
        q, k, v = functional.linear(normed, qkv, qkv_bias).view(batch, seq, 3, heads, dim // heads).permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, seq, dim)
        x = x + functional.linear(attended, proj, proj_bias)
        hidden = functional.gelu(functional.linear(functional.layer_norm(x, [dim], norm2, norm2_bias), fc1, fc1_bias))
        return x + functional.linear(hidden, fc2, fc2_bias)

    return function


def _convolution(name: str) -> Entry:
    def make(torch: Any, problem: Problem) -> Callable[..., Any]:
        function, p, axes = getattr(torch.nn.functional, name), problem.params, int(name[4])
        padding = [p["paddingHeight"], p["paddingWidth"]] if axes == 2 else [p["padding"]] * axes
        return lambda x, weight: function(x, weight, None, p["stride"], padding, p["dilation"], p["groups"])

    return Entry(make, fused=False, product=True, dtypes=(*FLOATS, "tf32"), note="On a GPU, PyTorch computes f32 convolutions in TF32 unless told otherwise; here f32 is f32, and tf32 a dtype of its own.")


def _pooling(name: str) -> Entry:
    def make(torch: Any, problem: Problem) -> Callable[..., Any]:
        function, p = getattr(torch.nn.functional, name), problem.params
        if "kernel" in p:
            return lambda x: function(x, p["kernel"], p["stride"], p["padding"])
        return lambda x: function(x, (p["outHeight"], p["outWidth"]))

    return Entry(make, fused=False)


def _attention(torch: Any, problem: Problem) -> Callable[..., Any]:
    p, function = problem.params, torch.nn.functional.scaled_dot_product_attention
    # Versions without grouped heads still have the plain call.
    grouped = {"enable_gqa": True} if p["heads"] != p["kvHeads"] else {}
    return lambda q, k, v: function(q, k, v, is_causal=p["causal"], **grouped)


def _layer_norm_backward(torch: Any, problem: Problem) -> Callable[..., Any]:
    shape, rows = _last_shape(problem), (-1, 1)
    backward = torch.ops.aten.native_layer_norm_backward
    # The bias is asked for its shape alone.
    return lambda grad, x, weight, mean, rstd: backward(grad, x, shape, mean.view(rows), rstd.view(rows), weight, weight, [True, True, True])


def _rms_norm_backward(torch: Any, problem: Problem) -> Callable[..., Any]:
    if problem.hardware == "cuda":
        shape, backward = _last_shape(problem), torch.ops.aten._fused_rms_norm_backward
        return lambda grad, x, weight, rstd: backward(grad, x, shape, rstd.view(-1, 1), weight, [True, True])

    def function(grad: Any, x: Any, weight: Any, rstd: Any) -> Any:
        """PyTorch has no such call on the CPU: its autograd runs these."""
        scale = rstd.view(-1, 1)
        normal, inner = x * scale, grad * weight
        return scale * (inner - normal * (inner * normal).mean(-1, True)), (grad * normal).sum(0)

    return function


def _cross_entropy_backward(torch: Any, problem: Problem) -> Callable[..., Any]:
    aten, tokens = torch.ops.aten, problem.tensors[0].shape[0]

    def function(logits: Any, target: Any, grad: Any) -> Any:
        powers = torch.log_softmax(logits, -1, dtype=torch.float32)
        # The reduction is a sum (2): the mean is in the gradient.
        chosen = aten.nll_loss_backward((grad / tokens).view(()), powers, target.long(), None, 2, -100, powers.new_zeros(()))
        return aten._log_softmax_backward_data(chosen, powers, -1, torch.float32).to(logits.dtype)

    return function


def _rope(torch: Any, problem: Problem) -> Callable[..., Any]:
    half, interleaved = problem.tensors[0].shape[-1] // 2, problem.params["interleaved"]

    def function(x: Any, cos: Any, sin: Any) -> Any:
        pairs, cos, sin = x.float(), cos.float()[:, None], sin.float()[:, None]
        a, b = (pairs[..., 0::2], pairs[..., 1::2]) if interleaved else (pairs[..., :half], pairs[..., half:])
        turned = (a * cos - b * sin, b * cos + a * sin)
        return (torch.stack(turned, -1).flatten(-2) if interleaved else torch.cat(turned, -1)).to(x.dtype)

    return function


def _scaled_matmul(torch: Any, problem: Problem) -> Callable[..., Any]:
    m, n, k = problem.dims
    if problem.dtype == "i8":
        if m <= 16 or n % 8 or k % 8:
            raise CaseFailure("unsupported", "torch._int_mm takes m above 16 and n and k in multiples of 8; here they are %d, %d and %d." % (m, n, k))
        return lambda a, b, scale_a, scale_b: (torch._int_mm(a, b.t()) * scale_a[:, None] * scale_b).bfloat16()
    if problem.hardware == "cpu" and release_of(torch) < (2, 13):
        raise CaseFailure("unsupported", "PyTorch before 2.13 scales f8 products on the CPU by whole tensors only.")
    if n % 16 or k % 16:
        raise CaseFailure("unsupported", "torch._scaled_mm takes n and k in multiples of 16; here they are %d and %d." % (n, k))
    return lambda a, b, scale_a, scale_b: torch._scaled_mm(a, b.t(), scale_a[:, None], scale_b[None, :], out_dtype=torch.bfloat16)


INT64 = "PyTorch's indices are int64; their conversion to int32 is not timed."


def _last_shape(problem: Problem) -> List[int]:
    return [problem.tensors[0].shape[-1]]


TABLE: Dict[str, Entry] = {
    "copy": Entry(lambda torch, p: lambda x: x.clone(), into=lambda torch, p: lambda x, out: out.copy_(x)),
    "transpose": Entry(lambda torch, p: lambda x: x.t().contiguous(), into=lambda torch, p: lambda x, out: out.copy_(x.t())),

    "add": call("add"),
    "sub": call("sub"),
    "mul": call("mul"),
    "div": call("div"),
    "fma": Entry(lambda torch, p: lambda a, b, c, **out: torch.addcmul(c, a, b, **out), out="out"),
    "lerp": call("lerp", weight="weight"),
    "scale": call("mul", other="factor"),
    "clamp": call("clamp", min="min", max="max"),

    "abs": call("abs"),
    "neg": call("neg"),
    "exp": call("exp"),
    "log": call("log"),
    "sqrt": call("sqrt"),
    "rsqrt": call("rsqrt"),

    # What F.relu calls, which takes no output itself.
    "relu": call("clamp_min", 0),
    "hardswish": Entry(lambda torch, p: torch._C._nn.hardswish, out="out", out_everywhere=False),
    "sigmoid": call("sigmoid"),
    "tanh": call("tanh"),
    # What F.gelu and F.silu are, which do not pass `out` on in every version.
    "gelu": Entry(lambda torch, p: torch._C._nn.gelu, out="out", out_everywhere=False),
    "gelu_tanh": Entry(lambda torch, p: partial(torch._C._nn.gelu, approximate="tanh"), out="out", out_everywhere=False),
    "silu": Entry(lambda torch, p: torch._C._nn.silu, out="out", out_everywhere=False),
    "gelu_backward": Entry(lambda torch, p: torch.ops.aten.gelu_backward, out="grad_input", out_everywhere=False),
    "silu_backward": Entry(lambda torch, p: torch.ops.aten.silu_backward, out="grad_input", out_everywhere=False),
    "swiglu": Entry(lambda torch, p: lambda a, b: torch.nn.functional.silu(a) * b, into=lambda torch, p: lambda a, b, out: torch.mul(torch.nn.functional.silu(a), b, out=out), note="swiglu is two calls of PyTorch; the first allocates."),

    "sum": reduction(lambda torch: torch.sum),
    "mean": reduction(lambda torch: torch.mean),
    "max": reduction(lambda torch: torch.amax),
    "min": reduction(lambda torch: torch.amin),
    "argmax": index("argmax"),
    "argmin": index("argmin"),
    "norm_l1": reduction(lambda torch: lambda x, dim, **out: torch.linalg.vector_norm(x, 1, dim, **out)),
    "norm_l2": reduction(lambda torch: lambda x, dim, **out: torch.linalg.vector_norm(x, 2, dim, **out)),
    "norm_linf": reduction(lambda torch: lambda x, dim, **out: torch.linalg.vector_norm(x, float("inf"), dim, **out)),
    "sum_to_shape": Entry(_sum_to_shape, out="out"),
    "dot": Entry(lambda torch, p: torch.dot, out="out", arrange=_scalar_output, fused=False),
    "mse_loss": Entry(lambda torch, p: torch.nn.functional.mse_loss),
    "cross_entropy": Entry(lambda torch, p: lambda logits, target: torch.nn.functional.cross_entropy(logits, target.long()), note="PyTorch takes int64 class indices: their conversion is inside."),

    "softmax": Entry(lambda torch, p: lambda x, **out: torch.softmax(x, -1, **out), out="out", out_everywhere=False),
    "log_softmax": Entry(lambda torch, p: lambda x, **out: torch.log_softmax(x, -1, **out), out="out", out_everywhere=False, rounds_on_cpu=True),
    # Its `out` variant computes into new memory and copies, so the plain call is the cheaper one.
    "layer_norm": Entry(lambda torch, p: lambda x, weight, bias: torch.nn.functional.layer_norm(x, _last_shape(p), weight, bias, p.params["eps"])),
    "rms_norm": Entry(lambda torch, p: lambda x, weight: torch.nn.functional.rms_norm(x, _last_shape(p), weight, p.params["eps"]), needs="nn.functional.rms_norm"),
    "group_norm": Entry(lambda torch, p: lambda x, weight, bias: torch.nn.functional.group_norm(x, p.params["groups"], weight, bias, p.params["eps"])),
    "batch_norm": Entry(_batch_norm, fused=False),

    "softmax_backward": Entry(lambda torch, p: lambda grad, y, **out: torch.ops.aten._softmax_backward_data(grad, y, -1, y.dtype, **out), out="grad_input", out_everywhere=False),
    "layer_norm_backward": Entry(_layer_norm_backward, fused=False, rounds_on_cpu=True),
    "rms_norm_backward": Entry(_rms_norm_backward, fused=False, rounds_on_cpu=True, needs="ops.aten._fused_rms_norm_backward"),
    "cross_entropy_backward": Entry(_cross_entropy_backward, note="The three calls of autograd from the logits: log_softmax in f32, as under autocast, and two gradients."),

    "scaled_dot_product_attention": Entry(_attention, fused=False, product=True, needs="nn.functional.scaled_dot_product_attention"),
    **{name: _convolution(name) for name in ("conv1d", "conv2d", "conv3d")},
    **{name: _pooling(name) for name in ("max_pool1d", "max_pool2d", "avg_pool1d", "avg_pool2d", "adaptive_max_pool2d", "adaptive_avg_pool2d")},

    "rope": Entry(_rope, note="Several calls of PyTorch, computed in f32 as LLaMA's code does."),
    "embedding": Entry(lambda torch, p: torch.nn.functional.embedding, fused=False),
    "gather": Entry(lambda torch, p: lambda x, index, **out: torch.gather(x, 0, index.long(), **out), out="out", note="PyTorch takes int64 indices: their conversion is inside."),
    "scatter_add": Entry(lambda torch, p: lambda x, index, src, **out: torch.index_add(x, 0, index, src, **out), out="out", fused=False, rounds_on_cpu=True),
    "cumsum": Entry(lambda torch, p: lambda x, **out: torch.cumsum(x, -1, **out), out="out"),
    "sort": Entry(lambda torch, p: lambda x: torch.sort(x, dim=-1, descending=p.params["descending"], stable=True), fused=False, note=INT64),
    "topk": Entry(lambda torch, p: lambda x: torch.topk(x, p.params["k"], -1), fused=False, note=INT64),

    "dropout": Entry(lambda torch, p: lambda x: torch.nn.functional.dropout(x, p.params["p"], True)),
    "adamw_step": Entry(_adamw, in_place=True, rounds_on_cpu=True),
    "scaled_matmul": Entry(_scaled_matmul, fused=False, dtypes=("i8", "f8e4m3"), needs="_scaled_mm"),
    # A product comes from a library, and copying it to a given output would be a second pass over it.
    "matmul": Entry(lambda torch, p: torch.matmul, out="out", arrange=_matmul_operands, fused=False, product=True, dtypes=(*FLOATS, "tf32")),
    "transformer_block": Entry(_transformer_block, product=True, needs="nn.functional.scaled_dot_product_attention", note="The layer is called as functions of torch.nn.functional, in the order of nn.TransformerEncoderLayer without its fused inference path."),
}


def kernels(torch: Any, hardware: str) -> Dict[str, List[str]]:
    """Op to dtypes in this version of PyTorch."""
    halves = release_of(torch) >= HALVES_ON_CPU
    multiplied = {"f16": torch.ops.mkldnn._is_mkldnn_fp16_supported, "bf16": torch.ops.mkldnn._is_mkldnn_bf16_supported} if halves else {}

    def here(entry: Entry, dtype: str) -> bool:
        if hardware == "cuda" or dtype == "f32":
            return True
        return halves and dtype != "tf32" and not entry.rounds_on_cpu and (not entry.product or bool(multiplied[dtype]()))

    found = {op: [dtype for dtype in entry.dtypes if here(entry, dtype)] for op, entry in TABLE.items() if entry.present(torch)}
    return {op: dtypes for op, dtypes in found.items() if dtypes}
