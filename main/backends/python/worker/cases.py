"""One open case: the library's buffers, the implementation bound to them, and what the library asks of it."""
from __future__ import annotations

import tracemalloc
from itertools import repeat
from typing import Any, Callable, Dict, List, Optional, Tuple

import guest
from arrays import wrap
from engines import Engine, as_list, engine_of
from failures import CaseFailure, failure_of
from implementations.types import Built, Call, Implementation, Problem, Tensor

ALLOCATES = "Allocates its output in every call: the allocator's cost is inside."
INTERPRETED = "Called from Python: the interpreter's part of a call is inside."
# Below a page, tracemalloc sees the interpreter's own objects.
_PAGE = 4096


class OpenCase:
    """Raises CaseFailure from every method. `close` in any case, and once."""

    def __init__(self, library: Any, implementation: Implementation, request: Dict[str, Any], hardware: str, ordinal: int, doing: Callable[[str], None]) -> None:
        """`doing` is told what takes long."""
        self.impl: str = implementation.ID
        self._cuda = hardware == "cuda"
        self._engine: Engine = engine_of(implementation.ARRAYS, hardware)
        self._traced = implementation.ARRAYS == "numpy"
        self._title = implementation.TITLE
        self._entered = False
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
            self._inputs: List[List[Any]] = []
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
        self._engine.enter(problem, self._buffers.stream() if self._cuda else 0)
        self._entered = True
        self._seed = request["seed"]
        doing("%s: making it ready and the first call" % implementation.TITLE)
        self._built: Built = implementation.build(problem)

        def array(address: int, tensor: Tensor) -> Any:
            return wrap(implementation.ARRAYS, address, tensor.shape, tensor.storage, hardware, ordinal)

        for set_ in range(self._buffers.sets):
            inputs = [array(self._buffers.input_at(set_, i), tensor) for i, tensor in enumerate(problem.inputs())]
            changed = iter([one for one, tensor in zip(inputs, problem.inputs()) if tensor.role == "inout"])
            self._outputs.append([next(changed) if tensor.role == "inout" else array(self._buffers.output_at(set_, i), tensor) for i, tensor in enumerate(problem.outputs())])
            self._inputs.append(inputs)
            self._calls.append(self._bind(set_))
        self._kept = [None] * len(self._calls)
        self._run = self._run_kept if self._built.allocates else self._run_in_place
        self.run()
        if any(tensor.role == "inout" for tensor in problem.tensors):
            self._buffers.refill([one["fill"] for one in request["tensors"] if "fill" in one])  # The first call has changed them.

    def _bind(self, set_: int) -> Call:
        return self._built.bind([self._engine.read(array) for array in self._inputs[set_]], self._outputs[set_])

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
        if self._engine.copies:
            self._calls = [self._bind(set_) for set_ in range(self._buffers.sets)]

    def poison(self) -> None:
        self._kept = [None] * len(self._calls)
        self._graph_kept = None
        self._buffers.poison()

    def run(self) -> None:
        self._engine.seed(self._seed)
        self._buffers.run()
        self._deliver()

    def run_observed(self) -> Optional[int]:
        """As `run`. Most bytes that the library held meanwhile by its own counter, where it has one."""
        if not self._traced:
            self._engine.watch_memory()
            self.run()
            return self._engine.peak_bytes()
        tracemalloc.start()
        try:
            self.run()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        return peak if peak >= _PAGE else 0

    def scan(self) -> List[Dict[str, int]]:
        return self._buffers.scan()

    def read(self, output: int, start: int, count: int) -> memoryview:
        return self._buffers.read(output, start, count)

    def sample(self, mode: str, count: int, inner: int) -> Dict[str, Any]:
        taken = self._buffers.sample(mode, count, inner)
        self._deliver()
        return taken

    def close(self) -> None:
        """Gives the buffers back after everything that refers to them is gone."""
        self._calls, self._kept, self._inputs, self._outputs, self._graph, self._graph_kept = [], [], [], [], None, None
        self._built = Built(lambda inputs, outputs: lambda: None)
        try:
            if self._entered:
                self._engine.leave()
        except Exception as error:
            raise failure_of(error)
        finally:
            self._buffers.close()

    def _deliver(self) -> None:
        """Copies what calls returned to the outputs, untimed."""
        try:
            for set_, kept in enumerate(self._kept):
                if kept is not None:
                    for output, array in zip(self._outputs[set_], as_list(kept)):
                        self._engine.copy(output, array)
                    self._kept[set_] = None
            self._engine.synchronize()
        except Exception as error:
            raise failure_of(error)

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
                self._graph()
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
        call, kept = self._bind(set_) if self._engine.renews and count > 0 else self._calls[set_], self._kept
        for _ in repeat(None, count):
            kept[set_] = None  # So that the allocator may give the same memory again, as in a loop of the user's.
            kept[set_] = call()
        if count > 0:
            self._engine.queued(kept[set_])

    def _record(self, set_: int, count: int) -> None:
        if not self._engine.graphs:
            raise CaseFailure("unsupported", "%s records no CUDA graphs; choose the modes cold and hot." % self._title)
        self._graph = self._engine.record(lambda: self._run(set_, count))
        if self._built.allocates:
            # A recorded call has not run yet: what it returned counts once the graph is launched.
            self._graph_kept = (set_, self._kept[set_])
            self._kept[set_] = None
