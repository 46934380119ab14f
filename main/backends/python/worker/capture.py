"""Runs a user's script and records the aten operations that it calls, with shapes, dtypes and counts.

    python capture.py OUT.json script.py [arguments]
    python capture.py OUT.json -m module [arguments]

The script runs as `python script.py` would run it. What it prints goes where it would have gone. Everything recorded is
written to OUT.json when it ends, also after an error, after sys.exit and after Ctrl+C. The process ends with the script's
own exit status. core/sweep/capture/schema.ts states the format of the file.
"""

import json
import os
import runpy
import sys
import threading
import time
from typing import Any, Dict, List, Optional

# A script that makes a new shape in every call would fill the memory; what is beyond is counted, not kept.
MAX_DISTINCT = 20000
# Longest list of an argument that is kept.
MAX_ITEMS = 64
# Seconds between two files while the script runs: the progress that Opscope shows.
PROGRESS_SECONDS = 1.0


class Recorder:
    """Counts calls by operation and arguments."""

    def __init__(self) -> None:
        self.counts: Dict[str, int] = {}
        self.calls = 0
        self.dropped = 0
        self.lock = threading.Lock()

    def add(self, name: str, args: Any, kwargs: Any) -> None:
        key = json.dumps([name, describe(args), {key: describe(value) for key, value in kwargs.items()}])
        with self.lock:
            self.calls += 1
            if key in self.counts or len(self.counts) < MAX_DISTINCT:
                self.counts[key] = self.counts.get(key, 0) + 1
            else:
                self.dropped += 1

    def operations(self) -> List[Dict[str, Any]]:
        with self.lock:
            items = list(self.counts.items())
        found = []
        for key, count in items:
            name, args, kwargs = json.loads(key)
            found.append({"op": name, "args": args, "kwargs": kwargs, "count": count})
        return found


def describe(value: Any, depth: int = 0) -> Any:
    """An argument as JSON: tensors by shape, strides, dtype and device; numbers and words as they are; the rest by its type."""
    import torch

    if isinstance(value, torch.Tensor):
        # Sparse and other layouts have no strides.
        strides = list(value.stride()) if value.layout == torch.strided else None
        return {"shape": [int(n) for n in value.shape], "strides": strides, "dtype": str(value.dtype).replace("torch.", ""), "device": value.device.type}
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        # JSON has no infinities.
        return value if value == value and abs(value) != float("inf") else str(value)
    if isinstance(value, (list, tuple)) and depth < 3:
        return [describe(item, depth + 1) for item in value[:MAX_ITEMS]]
    if isinstance(value, torch.dtype):
        return str(value).replace("torch.", "")
    return {"type": type(value).__name__}


def mode_of(recorder: Recorder) -> Any:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Capture(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Optional[Dict[str, Any]] = None) -> Any:
            kwargs = kwargs or {}
            # Described before the call: it may change its arguments.
            try:
                recorder.add(str(func), args, kwargs)
            except Exception:
                recorder.dropped += 1
            return func(*args, **kwargs)

    return Capture()


def write(path: str, recorder: Recorder, end: Optional[Dict[str, Any]], command: List[str]) -> None:
    import torch

    content = {
        "opscopeCapture": 1, "torch": torch.__version__, "python": sys.version.split()[0], "command": command, "calls": recorder.calls, "dropped": recorder.dropped,
        "devices": [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())] if torch.cuda.is_available() else [],
        **({"end": end} if end else {}), "operations": recorder.operations(),
    }
    # A reader never sees half a file.
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(content, file)
    os.replace(path + ".part", path)


def run(arguments: List[str]) -> None:
    """Runs the script as the program `python` does."""
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")


def main() -> int:
    out, arguments = sys.argv[1], sys.argv[2:]
    try:
        import torch  # noqa: F401
        from torch.utils._python_dispatch import TorchDispatchMode  # noqa: F401
    except ImportError as error:
        print("opscope: capture needs PyTorch 1.13 or newer in this Python: %s" % error, file=sys.stderr)
        return 97
    recorder = Recorder()
    command = list(arguments)
    stopped = threading.Event()

    def report() -> None:
        while not stopped.wait(PROGRESS_SECONDS):
            try:
                write(out, recorder, None, command)
            except OSError:
                return

    reporter = threading.Thread(target=report, daemon=True)
    reporter.start()
    began = time.monotonic()
    status, problem = 0, None
    try:
        with mode_of(recorder):
            run(arguments)
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
        if status and not isinstance(error.code, int):
            print(error.code, file=sys.stderr)
    except KeyboardInterrupt:
        status, problem = 130, "stopped"
    except BaseException as error:  # noqa: B902: the script may raise anything, and what it called until then counts
        import traceback

        traceback.print_exc()
        status, problem = 1, "%s: %s" % (type(error).__name__, error)
    finally:
        stopped.set()
        reporter.join()
        write(out, recorder, {"status": status, "seconds": time.monotonic() - began, **({"problem": problem[:2000]} if problem else {})}, command)
    return status


if __name__ == "__main__":
    sys.exit(main())
