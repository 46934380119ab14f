"""What an implementation folder exports, and what it is given."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, Optional, Protocol, Sequence, Tuple


@dataclass(frozen=True)
class Tensor:
    """One tensor of a call, as core/ops states it."""

    name: str
    shape: Tuple[int, ...]
    storage: str  # STORAGE_TYPES of core/case.ts
    role: str  # in, out, inout


@dataclass(frozen=True)
class Problem:
    """One case: what is computed, on what, with which settings. Tensors are those of core/ops, in its order."""

    op: str
    dtype: str  # DTYPES of core/case.ts
    hardware: str  # cpu, cuda
    ordinal: int  # of the GPU
    threads: Optional[int]
    params: Mapping[str, Any]
    dims: Sequence[int]
    scalars: Sequence[float]
    tensors: Sequence[Tensor]

    def inputs(self) -> List[Tensor]:
        """What a call reads."""
        return [tensor for tensor in self.tensors if tensor.role != "out"]

    def outputs(self) -> List[Tensor]:
        """What a call writes; those that it also reads are inputs too."""
        return [tensor for tensor in self.tensors if tensor.role != "in"]


# Runs (CPU) or queues on torch's current stream (CUDA) the op once. What it returns counts only where `allocates`.
Call = Callable[[], Any]


@dataclass
class Built:
    """An op made ready. `bind` is called once for every set of buffers; what it takes is not timed."""

    # Takes the arrays of problem.inputs() and problem.outputs(); what is both is the same array in each.
    bind: Callable[[Sequence[Any], Sequence[Any]], Call]
    # Every call returns the array that it allocated, or one for each output, instead of writing to the outputs it was bound to.
    allocates: bool = False
    # Sentences that belong on the result. Read after the first call, so a tuner may add to them there.
    notes: List[str] = field(default_factory=list)
    # Bytes of memory that is kept between calls and that no counter of the library sees.
    scratch_bytes: int = 0


class Implementation(Protocol):
    """The module of a folder under implementations/. It imports no numerical library before it is asked for something."""

    ID: str
    TITLE: str
    PREFERRED: bool
    # What it is made for: 'cpu', 'cuda'. On other hardware it is not mentioned.
    HARDWARE: Sequence[str]
    # What inputs and outputs are wrapped as, and the engine (engines.py): 'numpy', 'torch', 'cupy' or 'jax'.
    ARRAYS: str

    def availability(self, hardware: str) -> Optional[str]:
        """None where it can be used; else why not and what would help, in one sentence."""

    def kernels(self, hardware: str) -> Dict[str, List[str]]:
        """Op to dtypes. Asked only where it can be used."""

    def build(self, problem: Problem) -> Built:
        """Called with torch's current device and stream set, threads set, tf32 set and inference mode on."""
