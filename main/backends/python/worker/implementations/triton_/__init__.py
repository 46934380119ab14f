"""Triton: kernels of our own, tuned for every shape. An op is a function of elementwise_table.py or a file in ops/, and found by being there."""
from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from typing import Dict, List, Optional

from libraries import cuda_problem, load, release_of, version_of

from ..types import Built, Problem

ID = "triton"
TITLE = "Triton"
PREFERRED = False
HARDWARE = ("cuda",)
ARRAYS = "torch"

OLDEST = (3, 0)


def availability(hardware: str) -> Optional[str]:
    """None where it can be used; else why not and what would help, in one sentence."""
    if hardware != "cuda":
        return "Triton compiles for GPUs only; choose a CUDA device."
    problem = cuda_problem()
    if problem is not None:
        return problem
    triton, problem = load("triton")
    if triton is None:
        return "Triton is not installed: python -m pip install triton" if problem == "not installed" else f"Triton cannot be imported: {problem}"
    if release_of(triton) < OLDEST:
        return f"Triton 3.0 or newer is needed; this is {version_of(triton)}."
    torch = load("torch")[0]
    if torch.cuda.get_device_capability() < (8, 0):
        return "Triton supports NVIDIA GPUs of compute capability 8.0 and later; this one is older."
    return None


def kernels(hardware: str) -> Dict[str, List[str]]:
    """Op to dtypes. Asked only where it can be used."""
    elementwise = importlib.import_module(".elementwise", __name__)
    table = importlib.import_module(".elementwise_table", __name__)
    return {**{op: list(elementwise.DTYPES) for op in table.OPS}, **{op: list(_module(op).DTYPES) for op in _files()}}


def build(problem: Problem) -> Built:
    """Compiles and tunes when the first set of buffers is bound."""
    return (_module(problem.op) if problem.op in _files() else importlib.import_module(".elementwise", __name__)).build(problem)


def _files() -> List[str]:
    return sorted(found.name for found in pkgutil.iter_modules([str(Path(__file__).parent / "ops")]))


def _module(op: str):
    return importlib.import_module(f".ops.{op}", __name__)
