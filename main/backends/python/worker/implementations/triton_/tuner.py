"""Chooses among configurations of a kernel by timing them on the case's own buffers, once for every class of shape."""
from __future__ import annotations

import os
import statistics
import time
import zlib
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import torch

from ..types import Built, Call, Problem
from .launch import INTERPRETED

Config = Mapping[str, Any]
# Makes one configuration ready for the inputs and outputs of one set of buffers; raises where the device cannot hold it.
Prepare = Callable[[Config, Sequence[torch.Tensor], Sequence[torch.Tensor]], Call]

SAMPLES = 7
# A configuration whose first timed call takes this many times the best so far is not timed again.
HOPELESS = 3.0
# A number here picks a configuration by itself instead of timing them: tests cover all of them, at the price of one compilation each.
PICK = os.environ.get("OPSCOPE_TRITON_PICK", "0" if INTERPRETED else None)

_fastest: Dict[Tuple[Any, ...], Tuple[Config, str]] = {}


def class_of(problem: Problem) -> Tuple[Any, ...]:
    """What shapes that share a configuration have in common: every extent up to the next power of two, and whether rows are aligned."""
    extents = tuple((max(n - 1, 0).bit_length(), n % 16 == 0) if n > 1 else n for n in problem.dims)
    return problem.op, problem.dtype, problem.ordinal, extents


def tuned(problem: Problem, candidates: Sequence[Config], prepare: Prepare, scratch_bytes: int = 0) -> Built:
    """An op whose configuration is chosen when it is first bound, and remembered for its class of shape for the life of the process."""
    key = class_of(problem)
    built = Built(bind=lambda inputs, outputs: bind(inputs, outputs), scratch_bytes=scratch_bytes)

    def bind(inputs: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor]) -> Call:
        known = _fastest.get(key)
        # Another shape of the class may have other candidates: blocks that its splits or tiles do not allow.
        if known is None or known[0] not in candidates:
            title = f"{problem.op} {problem.dtype} {'x'.join(map(str, problem.dims))}"
            _fastest[key] = known = _choose(title, candidates, lambda config: prepare(config, inputs, outputs))
        config, note = known
        if note not in built.notes:
            built.notes.append(note)
        return prepare(config, inputs, outputs)

    return built


def describe(config: Config) -> str:
    """A configuration in words, such as "block 1024, warps 4"."""
    return ", ".join(f"{name.lower().replace('_', ' ')} {value}" for name, value in config.items())


def _choose(title: str, candidates: Sequence[Config], prepare: Callable[[Config], Call]) -> Tuple[Config, str]:
    ready: List[Tuple[Config, Call]] = []
    failure: Optional[Exception] = None
    started = time.perf_counter()
    order = list(candidates)
    if PICK is not None:
        first = zlib.crc32(f"{PICK} {title}".encode()) % len(order)
        order = order[first:] + order[:first]
    for config in order:
        try:
            call = prepare(config)
            call()
            if not INTERPRETED:
                torch.cuda.synchronize()
        except Exception as error:  # too much shared memory, too many registers, a shape this compiler cannot lower
            failure = error
        else:
            ready.append((config, call))
            if PICK is not None:
                return config, f"Triton's own configuration: {describe(config)}; picked by number {PICK}, not timed."
    if not ready:
        raise RuntimeError(f"Triton could not run any of {len(candidates)} configurations of {title}: {failure}") from failure
    config = ready[0][0] if len(ready) == 1 else _time(ready)
    return config, f"Triton's own configuration: {describe(config)}; the fastest of {len(ready)} on {title}; compiled and compared in {time.perf_counter() - started:.1f} s, before anything was timed."


def _time(ready: Sequence[Tuple[Config, Call]]) -> Config:
    """The fastest by the median of calls with an emptied L2, in rounds, so that a change of clocks meets all."""
    l2_bytes = getattr(torch.cuda.get_device_properties(torch.cuda.current_device()), "L2_cache_size", 64 << 20)
    flush = torch.zeros(l2_bytes // 2, device="cuda", dtype=torch.float32)  # twice the L2
    times: Dict[int, List[float]] = {at: [] for at in range(len(ready))}
    best = float("inf")
    for sample in range(SAMPLES):
        for at, (_config, call) in enumerate(ready):
            if sample > 0 and times[at][0] > HOPELESS * best:
                continue
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            # Reading, unlike writing, leaves no dirty lines to be written back within the timed window; it also keeps
            # the device busy while the host queues what follows.
            flush.sum()
            start.record()
            call()
            end.record()
            end.synchronize()
            times[at].append(start.elapsed_time(end))
            best = min(best, times[at][-1])
    del flush
    torch.cuda.empty_cache()
    return ready[min(times, key=lambda at: statistics.median(times[at]))][0]
