"""How many threads the libraries compute with, and how they treat denormal numbers."""
from __future__ import annotations

import ctypes
import glob
import os
import re
from typing import Any, List, Optional

from libraries import load

# Symbols that set the threads of a BLAS, each of one C int; BLIS takes a 64-bit one.
_SETTERS = (
    "scipy_openblas_set_num_threads64_", "scipy_openblas_set_num_threads", "openblas_set_num_threads64_", "openblas_set_num_threads64", "openblas_set_num_threads",
    "MKL_Set_Num_Threads",
)
_BLIS_SETTER = "bli_thread_set_num_threads"
_BLAS_FILE = re.compile(r"(openblas|mkl_rt|blis|/libblas\.|flexiblas)", re.IGNORECASE)


def set_torch_threads(count: int) -> None:
    torch: Any = load("torch")[0]
    if torch is not None and torch.get_num_threads() != count:
        torch.set_num_threads(count)


def flush_denormals() -> None:
    """As Opscope's own kernels compute. Threads that are started later take it over."""
    torch: Any = load("torch")[0]
    if torch is not None:
        torch.set_flush_denormal(True)


def set_numpy_threads(count: int) -> Optional[str]:
    """Sets the threads of NumPy's BLAS; a sentence for the result where they cannot be set."""
    limits: Any = load("threadpoolctl")[0]
    if limits is not None and any(pool.get("user_api") == "blas" for pool in limits.threadpool_info()):
        limits.threadpool_limits(limits=count, user_api="blas")
        return None
    names: List[str] = []
    for path in _blas_libraries():
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        names.append(os.path.basename(path))
        if _set(library, count):
            return None
    if not names:
        return "The threads of NumPy's BLAS could not be set: installing threadpoolctl may help."
    return None if count == 1 else "NumPy's BLAS is %s, whose threads cannot be set; the reference BLAS has one." % names[0]


def _set(library: Any, count: int) -> bool:
    for name in _SETTERS:
        setter = getattr(library, name, None)
        if setter is not None:
            setter(ctypes.c_int(count))
            return True
    setter = getattr(library, _BLIS_SETTER, None)
    if setter is not None:
        setter(ctypes.c_int64(count))
    return setter is not None


def _blas_libraries() -> List[str]:
    """Files of the BLAS libraries this process has loaded, those that come with NumPy first."""
    numpy: Any = load("numpy")[0]
    if numpy is None:
        return []
    package = os.path.dirname(numpy.__file__)
    found = [path for place in (package + ".libs", os.path.join(package, ".dylibs"), os.path.join(package, ".libs")) for path in glob.glob(os.path.join(place, "*"))]
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            found += [line.split(None, 5)[5].strip() for line in maps if line.count("/") > 0 and len(line.split(None, 5)) == 6]
    except OSError:
        pass  # Not Linux: NumPy's own wheels bring their BLAS in the folders above.
    return [path for path in dict.fromkeys(found) if _BLAS_FILE.search(path)]
