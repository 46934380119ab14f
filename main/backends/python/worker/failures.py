"""What an exception means for a case: one of core/backend.ts caseErrorCodeSchema and words for the user."""
from __future__ import annotations

import re
import traceback
from typing import Optional

GIB = float(1 << 30)
_UNITS = {"bytes": 1.0, "B": 1.0, "KiB": 1024.0, "MiB": 1024.0**2, "GiB": GIB, "TiB": 1024.0**4}
_AMOUNT = r"([\d.,]+) ?(TiB|GiB|MiB|KiB|bytes|B)\b"
# After these the CUDA context is gone, and with it everything the process held on the GPU.
_LOST = re.compile(
    r"illegal memory access|illegal address|illegal instruction|misaligned address|unspecified launch failure|device-side assert"
    r"|launch timed out|hardware stack error|invalid program counter|uncorrectable|device is lost|fallen off the bus"
    r"|driver shutting down|context is destroyed",
    re.IGNORECASE,
)


class CaseFailure(Exception):
    """Ends one case."""

    def __init__(self, code: str, message: str, detail: Optional[str] = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.detail = detail


def failure_of(error: BaseException) -> CaseFailure:
    """The failure that an exception of a library, of the guest or of this worker stands for."""
    if isinstance(error, CaseFailure):
        return error
    detail = "".join(traceback.format_exception(type(error), error, error.__traceback__))[-20000:]
    words = str(error)
    name = type(error).__name__
    # torch.OutOfMemoryError, torch.cuda.OutOfMemoryError (CuPy's has that name too), or before PyTorch 1.13 a RuntimeError with these words.
    if "CUDA out of memory" in words or "CUBLAS_STATUS_ALLOC_FAILED" in words or name == "OutOfMemoryError":
        return CaseFailure("out-of-memory", _cuda_memory(words), detail)
    if isinstance(error, MemoryError) or "DefaultCPUAllocator" in words or "RESOURCE_EXHAUSTED" in words:
        return CaseFailure("out-of-memory", _cpu_memory(words), detail)
    if "CUDA" in words and _LOST.search(words):
        return CaseFailure("device-lost", "The GPU refused to go on: %s." % _first_line(words).rstrip("."), detail)
    return CaseFailure("kernel-failed", "%s: %s" % (name, _first_line(words)) if words else name, detail)


def _cuda_memory(words: str) -> str:
    asked = _gib(re.search(r"(?:[Tt]ried to allocate|Out of memory allocating) " + _AMOUNT, words))
    free = _gib(re.search(_AMOUNT + r" (?:is )?free", words))
    amounts = "" if asked is None else ": asked for %s%s" % (asked, "" if free is None else " with %s free" % free)
    return "CUDA ran out of memory%s." % amounts


def _cpu_memory(words: str) -> str:
    asked = _gib(re.search(r"(?:(?:tried|[Uu]nable) to allocate|[Oo]ut of memory (?:while trying to allocate|allocating)) " + _AMOUNT, words))
    return "The memory ran out%s." % ("" if asked is None else ": asked for %s" % asked)


def _gib(match: Optional["re.Match[str]"]) -> Optional[str]:
    return None if match is None else "%.3g GiB" % (float(match.group(1).replace(",", "").rstrip(".")) * _UNITS[match.group(2)] / GIB)


def _first_line(words: str) -> str:
    return (words.strip().splitlines() or [""])[0][:1000]
