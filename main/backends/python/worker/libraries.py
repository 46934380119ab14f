"""The numerical libraries of this Python: which import, what they can do, and why not."""
from __future__ import annotations

import importlib
import os
from types import ModuleType
from typing import Any, Dict, List, Optional, Tuple

INSTALL_TORCH = "https://pytorch.org/get-started/locally tells how to install one with CUDA"

# JAX takes three quarters of a GPU's memory at its first call otherwise, and a case would find none.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

_tried: Dict[str, Tuple[Optional[ModuleType], Optional[str]]] = {}


def load(name: str) -> Tuple[Optional[ModuleType], Optional[str]]:
    """The module and None, or None and why it cannot be imported, in one line. Each is tried once."""
    if name not in _tried:
        try:
            _tried[name] = (importlib.import_module(name), None)
        except BaseException as error:  # A broken library may raise anything, SystemExit included.
            _tried[name] = (None, "not installed" if isinstance(error, ModuleNotFoundError) and error.name == name else last_line(error))
    return _tried[name]


def last_line(error: BaseException) -> str:
    """The last line of an exception with its type, at most 500 characters."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return ("%s: %s" % (type(error).__name__, lines[-1]) if lines else type(error).__name__)[:500]


def version_of(module: Any) -> str:
    return str(getattr(module, "__version__", "of unknown version"))[:80]


def release_of(module: Any) -> Tuple[int, int]:
    """(2, 11) of 2.11.0+cu130; (0, 0) where it cannot be read."""
    parts = version_of(module).split(".")
    try:
        return int(parts[0]), int(parts[1])
    except (IndexError, ValueError):
        return 0, 0


def cpu_problem() -> Optional[str]:
    """None where something can compute on the CPU."""
    problems = {name: load(name)[1] for name in ("numpy", "torch")}
    if None in problems.values():
        return None
    if set(problems.values()) == {"not installed"}:
        return "Neither NumPy nor PyTorch is installed: python -m pip install numpy torch"
    return "NumPy: %s. PyTorch: %s." % (problems["numpy"], problems["torch"])


def cuda_problem() -> Optional[str]:
    """None where PyTorch reaches a GPU of NVIDIA."""
    torch, problem = load("torch")
    if torch is None:
        return "PyTorch is not installed; %s." % INSTALL_TORCH if problem == "not installed" else "PyTorch cannot be imported: %s" % problem
    reason = _no_cuda(torch)
    return None if reason is None else "PyTorch %s reaches no GPU: %s." % (version_of(torch), reason)


def _no_cuda(torch: Any) -> Optional[str]:
    if torch.version.cuda is None:
        return "it is a %s; %s" % ("build for ROCm" if getattr(torch.version, "hip", None) else "CPU-only build", INSTALL_TORCH)
    try:
        torch.cuda.init()
        return None if torch.cuda.device_count() > 0 else "it finds no device"
    except Exception as error:
        words = " ".join(str(error).split())
        if "no NVIDIA driver" in words:
            return "no NVIDIA driver is installed"
        return words.split(". ")[0][:300].rstrip(".") or type(error).__name__


def packages() -> List[Dict[str, str]]:
    """protocol.ts packageSchema of numpy, torch and triton, and of jax and cupy where they are installed."""
    plain = lambda module: ""
    optional = [_package(name, plain) for name in ("jax", "cupy") if load(name)[1] != "not installed"]
    return [_package("numpy", plain), _package("torch", _torch_detail), _package("triton", plain), *optional]


def _package(name: str, detail: Any) -> Dict[str, str]:
    module, problem = load(name)
    package = {"name": name}
    if module is None:
        package["problem"] = problem or ""
        return package
    package["version"] = version_of(module)
    words = detail(module)
    if words:
        package["detail"] = words[:200]
    return package


def _torch_detail(torch: Any) -> str:
    threads = torch.get_num_threads()
    cpu = "%d thread%s by default" % (threads, "" if threads == 1 else "s")
    if torch.version.cuda is None:
        return cpu + ", CPU-only build"
    problem = _no_cuda(torch)
    if problem:
        return "%s, CUDA %s: %s" % (cpu, torch.version.cuda, problem)
    names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return "%s, CUDA %s, %d GPU%s: %s" % (cpu, torch.version.cuda, len(names), "" if len(names) == 1 else "s", ", ".join(names))
