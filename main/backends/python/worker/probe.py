"""Prints what this Python can compute with, as protocol.ts probeSchema, and nothing else. Run by itself."""
from __future__ import annotations

import json
import os
import platform
import sys


def main() -> None:
    if sys.version_info < (3, 8):
        sys.exit("too old")
    # What libraries print while they are imported goes to the standard error.
    answer = os.dup(1)
    os.dup2(2, 1)
    sys.dont_write_bytecode = True
    import libraries
    from implementations import described

    probe = {
        "python": platform.python_version(),
        "prefix": sys.prefix,
        "packages": libraries.packages(),
        "cpu": _availability(libraries.cpu_problem()),
        "cuda": _availability(libraries.cuda_problem()),
        "impls": {hardware: described(hardware) for hardware in ("cpu", "cuda")},
    }
    os.write(answer, json.dumps(probe).encode("utf-8"))


def _availability(problem: object) -> dict:
    return {"ok": True} if problem is None else {"ok": False, "reason": problem}


if __name__ == "__main__":
    main()
