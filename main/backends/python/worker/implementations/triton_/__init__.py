"""Triton: kernels of our own, tuned for every class of shape. A family is a file in families/, found by being there; its OPS are what it computes."""
from __future__ import annotations

import importlib
import os
import pkgutil
from pathlib import Path
from typing import Any, Dict, List, Optional

from libraries import cuda_problem, load, release_of, version_of

from ..types import Built, Problem

ID = "triton"
TITLE = "Triton"
PREFERRED = False
# Tests without a GPU run the kernels in Triton's interpreter (main/backends/python/launch.ts takes the variable from a user's environment).
_INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
HARDWARE = ("cpu", "cuda") if _INTERPRETED else ("cuda",)
ARRAYS = "torch"

OLDEST = (3, 0)


def availability(hardware: str) -> Optional[str]:
    """None where it can be used; else why not and what would help, in one sentence."""
    if hardware != "cuda" and not _INTERPRETED:
        return "Triton compiles for GPUs only; choose a CUDA device."
    problem = None if hardware == "cpu" else cuda_problem()
    if problem is not None:
        return problem
    triton, problem = load("triton")
    if triton is None:
        return "Triton is not installed: python -m pip install triton" if problem == "not installed" else f"Triton cannot be imported: {problem}"
    if release_of(triton) < OLDEST:
        return f"Triton 3.0 or newer is needed; this is {version_of(triton)}."
    torch = load("torch")[0]
    if hardware == "cpu":
        return "Triton's interpreter needs PyTorch." if torch is None else None
    if torch.cuda.get_device_capability() < (8, 0):
        return "Triton supports NVIDIA GPUs of compute capability 8.0 and later; this one is older."
    return None


def kernels(hardware: str) -> Dict[str, List[str]]:
    """Op to dtypes. Asked only where it can be used."""
    return {op: ["f32"] if hardware == "cpu" else list(dtypes) for family in _families() for op, dtypes in family.OPS.items()}


def build(problem: Problem) -> Built:
    """Compiles and tunes when the first set of buffers is bound."""
    return next(family for family in _families() if problem.op in family.OPS).build(problem)


def _families() -> List[Any]:
    names = sorted(found.name for found in pkgutil.iter_modules([str(Path(__file__).parent / "families")]))
    return [importlib.import_module(f".families.{name}", __name__) for name in names]
