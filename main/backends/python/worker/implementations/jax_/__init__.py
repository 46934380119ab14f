"""JAX: each operation as jit compiles it with XLA for this very shape."""
from __future__ import annotations

import importlib.util
import time
from functools import partial
from typing import Any, Dict, List, Optional, Sequence

from libraries import cuda_problem, load

from ..types import Built, Call, Problem
from .table import TABLE, TF32

ID = "jax"
TITLE = "JAX"
PREFERRED = False
HARDWARE = ("cpu", "cuda")
ARRAYS = "jax"

PLUGINS = ("jax_cuda13_plugin", "jax_cuda12_plugin")


def availability(hardware: str) -> Optional[str]:
    problem = load("jax")[1]
    if problem is not None:
        return "JAX is not installed: python -m pip install jax" if problem == "not installed" else "JAX cannot be imported: %s" % problem
    if hardware == "cpu":
        return None
    if not any(importlib.util.find_spec(plugin) for plugin in PLUGINS):
        return 'This JAX computes on the CPU only: python -m pip install "jax[cuda13]"'
    # The streams and buffers of a GPU are handed to it by PyTorch.
    return cuda_problem()


def kernels(hardware: str) -> Dict[str, List[str]]:
    if hardware == "cpu":
        # Its attention takes no f16 there, and NumPy's arrays have no bf16.
        return {op: ["f32"] if op == "scaled_dot_product_attention" else ["f32", "f16"] for op in TABLE}
    return {op: ["f32", "f16", "bf16", *(["tf32"] if op in TF32 else [])] for op in TABLE}


def build(problem: Problem) -> Built:
    jax: Any = load("jax")[0]
    # By default a GPU multiplies f32 in TF32.
    jax.config.update("jax_default_matmul_precision", "tensorfloat32" if problem.dtype == "tf32" else "highest" if problem.dtype == "f32" else None)
    compiled = jax.jit(TABLE[problem.op](jax, problem))
    notes: List[str] = [] if problem.hardware == "cuda" else ["JAX chooses its threads itself."]

    def bind(inputs: Sequence[Any], _outputs: Sequence[Any]) -> Call:
        if not notes or not notes[-1].startswith("Compiled"):
            started = time.perf_counter()
            jax.block_until_ready(compiled(*inputs))
            notes.append("Compiled in %.1f s, before anything was timed." % (time.perf_counter() - started))
        if problem.hardware == "cuda":
            return partial(compiled, *inputs)
        # Calls return before they are computed.
        return lambda: jax.block_until_ready(compiled(*inputs))

    return Built(bind, allocates=True, notes=notes)
