"""Calls `build` of every Triton kernel and checks what it would launch, without a GPU.

usage: check.py                  with stand-ins for Triton and PyTorch: the arguments of each launch are those of its kernel
       check.py --compile 90     with both installed: compiles every launch for this compute capability
"""
from __future__ import annotations

import inspect
import sys
import types
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

WORKER = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(WORKER))
sys.dont_write_bytecode = True

# dims by the family of an op: shapes that take every path of `build`.
REDUCED = ((1, 1000, 1), (1, 3_000_001, 1), (257, 100, 1), (3, 20_000, 1), (1, 500, 33), (1, 4096, 4096), (7, 30, 1, 12), (1, 3, 2**31, 1))
ROWS = ((7, 1), (5, 127), (4096, 4096), (3, 40_000), (2**20, 4096))
PLANES = ((2, 6, 49, 3), (4, 64, 3136, 32), (1, 2, 40_000, 1))
SHAPES: Dict[str, Sequence[Tuple[int, ...]]] = {
    "elementwise": ((1,), (12345,), (2**32,)),
    "reduction": REDUCED,
    "rows": ROWS,
    "norm_backward": ROWS,
    "cross_entropy": ROWS,
    "channel_norm": tuple((*shape[:3], training) for shape in PLANES for training in (0, 1)),
    "matmul": ((1, 1, 1, 1, 0, 0), (1, 4096, 4096, 4096, 0, 1), (3, 33, 65, 29, 1, 0), (1, 50_000, 60_000, 64, 0, 0)),
    "attention": ((1, 1, 1, 1, 1, 16, 0), (2, 8, 2, 100, 77, 64, 1), (1, 4, 4, 2048, 2048, 128, 1), (1, 2, 1, 33, 500, 80, 0), (1, 1, 1, 64, 64, 256, 1)),
}
# Inputs of ops that are not one, and scalars.
INPUTS = {
    "add": 2, "sub": 2, "mul": 2, "div": 2, "fma": 3, "lerp": 2, "swiglu": 2, "gelu_backward": 2, "silu_backward": 2, "dot": 2, "mse_loss": 2, "softmax_backward": 2, "layer_norm": 3, "rms_norm": 2,
    "group_norm": 3, "batch_norm": 5, "cross_entropy": 2, "cross_entropy_backward": 3, "layer_norm_backward": 5, "rms_norm_backward": 4, "matmul": 2, "scaled_dot_product_attention": 3,
}
OUTPUTS = {"layer_norm_backward": 3, "rms_norm_backward": 2, "batch_norm": 3}
SCALARS = {"scale": (2.0,), "lerp": (0.5,), "clamp": (-1.0, 1.0), "layer_norm": (1e-5,), "rms_norm": (1e-5,), "group_norm": (1e-5,), "batch_norm": (1e-5,)}
# Tensors that stay f32 or i32 beside 16-bit ones.
FIXED = {
    "batch_norm": {1: "float32", 2: "float32", 3: "float32", 4: "float32"}, "cross_entropy": {1: "int32"}, "cross_entropy_backward": {1: "int32", 2: "float32"},
    "layer_norm_backward": {3: "float32", 4: "float32"}, "rms_norm_backward": {3: "float32"},
}
TORCH = {"f32": "float32", "tf32": "float32", "f16": "float16", "bf16": "bfloat16"}


def stand_ins() -> None:
    """Modules in the place of Triton and PyTorch that have the names `build` looks up."""

    class Anything(types.ModuleType):
        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            return Anything(name)

        def __call__(self, *args: Any, **named: Any) -> Any:
            return Anything("value")

        def __getitem__(self, _index: Any) -> Any:
            return self

    def jit(function: Any = None, **_options: Any) -> Any:
        if function is None:
            return jit
        function.arg_names = list(inspect.signature(function).parameters)
        return function

    triton, torch = Anything("triton"), Anything("torch")
    triton.jit, triton.__version__, triton.__path__ = jit, "3.6.0", []  # type: ignore[attr-defined]
    torch.cuda = types.SimpleNamespace(get_device_capability=lambda *_: (9, 0))  # type: ignore[attr-defined]
    # Descriptors of the bulk copy engine are made from real tensors.
    descriptor = Anything("triton.tools.tensor_descriptor")
    sys.modules.update({"triton": triton, "triton.language": Anything("triton.language"), "triton.tools": Anything("triton.tools"), "triton.tools.tensor_descriptor": descriptor, "torch": torch})


def check_arguments(kernel: Any, grid: Tuple[int, ...], args: Sequence[Any], meta: Dict[str, Any], **_options: int) -> Any:
    names = kernel.arg_names
    assert list(names[len(args):]) == [name for name in names if name in meta] and len(names) == len(args) + len(meta), f"{len(args)} arguments and {sorted(meta)} for the parameters {names}"
    limits = (2**31 - 1, 65535, 65535)
    assert all(isinstance(n, int) and 1 <= n <= most for n, most in zip(grid, limits)), f"a grid of {grid}"
    return lambda: None


def compile_for(capability: int) -> Any:
    import triton
    from triton.backends.compiler import GPUTarget

    class Driver:
        def get_current_device(self) -> int:
            return 0

        def get_current_stream(self, _device: int) -> int:
            return 0

        def get_current_target(self) -> Any:
            return GPUTarget("cuda", capability, 32)

    triton.runtime.driver.set_active(Driver())

    def prepare(kernel: Any, grid: Tuple[int, ...], args: Sequence[Any], meta: Dict[str, Any], *, warps: int, stages: int) -> Any:
        check_arguments(kernel, grid, args, meta)
        kernel.warmup(*args, grid=grid, **meta, num_warps=warps, num_stages=stages)
        return lambda: None

    return prepare


def main() -> int:
    capability = int(sys.argv[2]) if sys.argv[1:2] == ["--compile"] else None
    if capability is None:
        stand_ins()
    import torch

    if capability:
        torch.cuda.get_device_capability = lambda *_: divmod(capability, 10)
    from implementations import triton_ as package
    from implementations.triton_ import launch, tuner
    from implementations.types import Problem, Tensor

    launch.prepare = compile_for(capability) if capability else check_arguments
    launch.multiprocessors = lambda _ordinal: 132

    def tensors(op: str, dtype: str, count: int) -> List[Any]:
        if capability is None:
            return [torch.empty(1)] * count
        return [torch.empty(16, dtype=getattr(torch, FIXED.get(op, {}).get(i, TORCH[dtype]))) for i in range(count)]

    launches, wrong = 0, []
    for family in package._families():
        name = family.__name__.split(".")[-1]
        for op, dtypes in family.OPS.items():
            if capability and name == "elementwise" and op not in ("add", "fma", "clamp", "gelu", "lerp", "gelu_backward"):
                continue
            for dims in PLANES if op == "group_norm" else SHAPES[name]:
                for dtype in dtypes if capability is None else dtypes[:1] if dims[-1] % 2 else dtypes[-1:]:
                    described = [Tensor("x", (1,), "f32", "in")] * INPUTS.get(op, 1)
                    problem = Problem(op, dtype, "cuda", 0, None, {}, dims, SCALARS.get(op, ()), described)
                    inputs, outputs = tensors(op, dtype, INPUTS.get(op, 1)), tensors("", dtype if op[:3] != "arg" else "f32", OUTPUTS.get(op, 1))

                    def tried(_problem: Any, candidates: Sequence[Any], ready: Any, scratch_bytes: int = 0) -> None:
                        nonlocal launches
                        assert candidates and len(candidates) == len({str(one) for one in candidates}), f"candidates {candidates}"
                        assert isinstance(scratch_bytes, int) and scratch_bytes >= 0
                        for config in candidates if capability is None else [candidates[launches % len(candidates)]]:
                            if capability and config.get("kernel", "").startswith("tma"):
                                continue
                            ready(config, inputs, outputs)
                            launches += 1

                    family.tuned = tried
                    try:
                        family.build(problem)
                    except Exception as error:
                        if not (isinstance(error, ValueError) and "indices as i32" in str(error)):
                            wrong.append(f"{op} {dtype} {'x'.join(map(str, dims))}: {type(error).__name__}: {error}")
                    if capability:
                        print(op, dtype, dims, "failed" if wrong else "", flush=True)
    for line in wrong:
        print(line[:2000])
    print(f"{launches} launches, {len(wrong)} wrong")
    return 1 if wrong or launches == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
