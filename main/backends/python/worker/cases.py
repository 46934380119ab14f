"""One open case: the library's buffers, the implementation bound to them, and what the library asks of it."""
from __future__ import annotations

import tracemalloc
from itertools import repeat
from typing import Any, Callable, Dict, List, Optional, Tuple

import guest
from arrays import wrap
from failures import CaseFailure, failure_of
from implementations.types import Built, Call, Implementation, Problem, Tensor
from libraries import load
from threads import set_torch_threads

ALLOCATES = "Allocates its output in every call: the allocator's cost is inside."
INTERPRETED = "Called from Python: the interpreter's part of a call is inside."
# Below a page, tracemalloc sees the interpreter's own objects.
_PAGE = 4096


class OpenCase:
    """Raises CaseFailure from every method. `close` in any case, and once."""

    def __init__(self, library: Any, implementation: Implementation, request: Dict[str, Any], hardware: str, ordinal: int, doing: Callable[[str], None]) -> None:
        """`doing` is told what takes long."""
        self._cuda = hardware == "cuda"
        self._uses_torch = implementation.ARRAYS == "torch"
        self._torch: Any = load("torch")[0] if self._uses_torch else None
        self._error: Optional[BaseException] = None
        self._calls: List[Call] = []
        # Where calls allocate: what the last call on each set returned, and is not copied to its output yet.
        self._kept: List[Any] = []
        self._graph: Any = None
        self._graph_kept: Optional[Tuple[int, Any]] = None
        self._run: Callable[[int, int], None] = lambda set_, count: None
        doing("allocating")
        self._buffers = guest.Buffers(library, request, hardware, ordinal, self._call, self._take_error)
        try:
            self._outputs: List[List[Any]] = []
            self._build(implementation, request, hardware, ordinal, doing)
        except BaseException as error:
            failure = failure_of(error)
            try:
                self.close()
            except CaseFailure:
                pass  # A lost GPU refuses this too; why the case did not open is what counts.
            raise failure

    def _build(self, implementation: Implementation, request: Dict[str, Any], hardware: str, ordinal: int, doing: Callable[[str], None]) -> None:
        problem = Problem(
            request["op"], request["dtype"], hardware, ordinal, request.get("threads"), request["params"], request["dims"], request["scalars"],
            [Tensor(one["name"], tuple(one["shape"]), one["storage"], one["role"]) for one in request["tensors"]],
        )
        if self._cuda:
            self._enter_stream(problem)
        elif self._uses_torch and problem.threads:
            set_torch_threads(problem.threads)
        self._seed = request["seed"]
        doing("%s: making it ready and the first call" % implementation.TITLE)
        self._built: Built = implementation.build(problem)

        def array(address: int, tensor: Tensor) -> Any:
            return wrap(implementation.ARRAYS, address, tensor.shape, tensor.storage, hardware, ordinal)

        for set_ in range(self._buffers.sets):
            inputs = [array(self._buffers.input_at(set_, i), tensor) for i, tensor in enumerate(problem.inputs())]
            changed = iter([one for one, tensor in zip(inputs, problem.inputs()) if tensor.role == "inout"])
            self._outputs.append([next(changed) if tensor.role == "inout" else array(self._buffers.output_at(set_, i), tensor) for i, tensor in enumerate(problem.outputs())])
            self._calls.append(self._built.bind(inputs, self._outputs[-1]))
        self._kept = [None] * len(self._calls)
        self._run = self._run_kept if self._built.allocates else self._run_in_place
        self.run()
        if any(tensor.role == "inout" for tensor in problem.tensors):
            self._buffers.refill([one["fill"] for one in request["tensors"] if "fill" in one])  # The first call has changed them.

    def _enter_stream(self, problem: Problem) -> None:
        torch = self._torch
        torch.cuda.set_stream(torch.cuda.ExternalStream(self._buffers.stream(), device=problem.ordinal))
        # The older of two ways to say it, which newer versions keep in step with theirs.
        torch.backends.cuda.matmul.allow_tf32 = problem.dtype == "tf32"
        # On by default for convolutions, whose f32 then has 10 bits of mantissa.
        torch.backends.cudnn.allow_tf32 = problem.dtype == "tf32"

    @property
    def facts(self) -> Dict[str, Any]:
        """The answer to `open`."""
        notes = list(self._built.notes) + ([ALLOCATES] if self._built.allocates else []) + ([] if self._cuda else [INTERPRETED])
        facts = {
            "timer": "cuda-event" if self._cuda else "steady-clock",
            "tickNs": self._buffers.tick_ns,
            "notes": [note[:400] for note in notes[:10]],
            "caseBytes": self._buffers.bytes + self._built.scratch_bytes,
        }
        delta = self._buffers.delta_bytes()
        if delta is not None:
            facts["deviceDeltaBytes"] = delta
        return facts

    def refill(self, fills: List[Dict[str, Any]], seed: int) -> None:
        self._buffers.refill(fills)
        self._seed = seed

    def poison(self) -> None:
        self._kept = [None] * len(self._calls)
        self._graph_kept = None
        self._buffers.poison()

    def run(self) -> None:
        if self._uses_torch:
            self._torch.manual_seed(self._seed)  # Runs with one seed draw the same numbers.
        self._buffers.run()
        self._deliver()

    def run_observed(self) -> Optional[int]:
        """As `run`. Most bytes that the library held meanwhile by its own counter, where it has one."""
        if self._cuda:
            self._torch.cuda.reset_peak_memory_stats()
            self.run()
            return int(self._torch.cuda.max_memory_allocated())
        if self._uses_torch:
            self.run()
            return None
        tracemalloc.start()
        try:
            self.run()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        return peak if peak >= _PAGE else 0

    def scan(self) -> List[Dict[str, int]]:
        return self._buffers.scan()

    def read(self, output: int, start: int, count: int) -> bytes:
        return self._buffers.read(output, start, count)

    def sample(self, mode: str, count: int, inner: int) -> Dict[str, Any]:
        taken = self._buffers.sample(mode, count, inner)
        self._deliver()
        return taken

    def close(self) -> None:
        """Gives the buffers back after everything that refers to them is gone."""
        self._calls, self._kept, self._outputs, self._graph, self._graph_kept = [], [], [], None, None
        self._built = Built(lambda inputs, outputs: lambda: None)
        try:
            if self._cuda:
                self._leave_stream()
        except Exception as error:
            raise failure_of(error)
        finally:
            self._buffers.close()

    def _leave_stream(self) -> None:
        torch = self._torch
        torch.cuda.synchronize()
        torch.cuda.set_stream(torch.cuda.default_stream())
        clear = getattr(torch._C, "_cuda_clearCublasWorkspaces", None)
        if clear is not None:
            clear()  # One is kept for every stream that a product ran on.
        torch.cuda.empty_cache()

    def _deliver(self) -> None:
        """Copies what calls returned to the outputs, untimed."""
        try:
            for set_, kept in enumerate(self._kept):
                if kept is not None:
                    for output, array in zip(self._outputs[set_], kept if isinstance(kept, (tuple, list)) else (kept,)):
                        self._copy(output, array)
                    self._kept[set_] = None
            if self._cuda:
                self._torch.cuda.current_stream().synchronize()
        except Exception as error:
            raise failure_of(error)

    def _copy(self, output: Any, array: Any) -> None:
        array = array.reshape(output.shape)
        if self._uses_torch:
            output.copy_(array)
        else:
            output[...] = array

    def _take_error(self) -> Optional[BaseException]:
        error, self._error = self._error, None
        return None if error is None else failure_of(error)

    def _call(self, action: int, set_: int, count: int) -> int:
        """What the library calls. Nothing may be raised through it."""
        try:
            if action == guest.RUN:
                self._run(set_, count)
            elif action == guest.RECORD:
                self._record(set_, count)
            elif action == guest.LAUNCH:
                self._graph.replay()
                if self._graph_kept is not None:
                    self._kept[self._graph_kept[0]] = self._graph_kept[1]
            elif action == guest.DROP:
                self._graph = self._graph_kept = None
            else:
                raise CaseFailure("internal", "The library asked for action %d, which is not known." % action)
            return 0
        except BaseException as error:
            self._error = error
            return -1

    def _run_in_place(self, set_: int, count: int) -> None:
        call = self._calls[set_]
        for _ in repeat(None, count):
            call()

    def _run_kept(self, set_: int, count: int) -> None:
        call, kept = self._calls[set_], self._kept
        for _ in repeat(None, count):
            kept[set_] = None  # So that the allocator may give the same memory again, as in a loop of the user's.
            kept[set_] = call()

    def _record(self, set_: int, count: int) -> None:
        torch = self._torch
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
            self._run(set_, count)
        self._graph = graph
        if self._built.allocates:
            # A recorded call has not run yet: what it returned counts once the graph is launched.
            self._graph_kept = (set_, self._kept[set_])
            self._kept[set_] = None
