"""How each library computes a case: on the CPU, or on the CUDA stream that Opscope times. One engine for each of arrays.py KINDS.

A library must queue its work on that stream and not wait there. JAX has streams of its own: before its calls they wait for the
stream of the case, and after them the stream waits for what they return, so that events around them time the same work.
"""
from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

from libraries import load
from threads import set_torch_threads


class Engine:
    """Computes on the CPU when called."""

    # Inputs are read anew after each refill, as copies of the buffers may be what calls read.
    copies = False
    # Inputs are read anew before each batch of calls.
    renews = False
    # Records CUDA graphs.
    graphs = False

    def enter(self, problem: Any, stream: int) -> None:
        """Once, before anything is allocated. `stream`: the CUDA stream of the case; 0 on the CPU."""

    def leave(self) -> None:
        """Once, when nothing refers to arrays any more."""

    def seed(self, seed: int) -> None:
        """Runs with one seed draw the same numbers."""

    def read(self, array: Any) -> Any:
        """An input as the library takes it, of an array by arrays.wrap."""
        return array

    def queued(self, results: Any) -> None:
        """After a batch of calls, with what the last one returned."""

    def copy(self, output: Any, result: Any) -> None:
        """What a call returned into the output that it belongs to."""
        output[...] = result.reshape(output.shape)

    def synchronize(self) -> None:
        """Waits for what was queued."""

    def record(self, run: Callable[[], None]) -> Callable[[], None]:
        """Records what `run` queues; gives the function that queues it once more."""
        raise NotImplementedError

    def watch_memory(self) -> None:
        """Begins to look for the largest use of the library's own memory."""

    def peak_bytes(self) -> Optional[int]:
        """Most bytes that the library held since, by its own counter; None where it has none."""
        return None


class TorchCpu(Engine):
    def enter(self, problem: Any, stream: int) -> None:
        self._torch: Any = load("torch")[0]
        if problem.threads:
            set_torch_threads(problem.threads)

    def seed(self, seed: int) -> None:
        self._torch.manual_seed(seed)

    def copy(self, output: Any, result: Any) -> None:
        output.copy_(result.reshape(output.shape))


class TorchCuda(TorchCpu):
    graphs = True

    def enter(self, problem: Any, stream: int) -> None:
        self._torch = load("torch")[0]
        torch = self._torch
        torch.cuda.set_stream(torch.cuda.ExternalStream(stream, device=problem.ordinal))
        # The older of two ways to say it, which newer versions keep in step with theirs.
        torch.backends.cuda.matmul.allow_tf32 = problem.dtype == "tf32"
        # On by default for convolutions, whose f32 then has 10 bits of mantissa.
        torch.backends.cudnn.allow_tf32 = problem.dtype == "tf32"

    def leave(self) -> None:
        torch = self._torch
        torch.cuda.synchronize()
        torch.cuda.set_stream(torch.cuda.default_stream())
        clear = getattr(torch._C, "_cuda_clearCublasWorkspaces", None)
        if clear is not None:
            clear()  # One is kept for every stream that a product ran on.
        torch.cuda.empty_cache()

    def synchronize(self) -> None:
        self._torch.cuda.current_stream().synchronize()

    def record(self, run: Callable[[], None]) -> Callable[[], None]:
        torch = self._torch
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
            run()
        return graph.replay

    def watch_memory(self) -> None:
        self._torch.cuda.reset_peak_memory_stats()

    def peak_bytes(self) -> Optional[int]:
        return int(self._torch.cuda.max_memory_allocated())


class Cupy(Engine):
    graphs = True

    def enter(self, problem: Any, stream: int) -> None:
        self._cupy: Any = load("cupy")[0]
        self._cupy.cuda.Device(problem.ordinal).use()
        self._stream = self._cupy.cuda.ExternalStream(stream, problem.ordinal)
        self._stream.use()

    def leave(self) -> None:
        self._stream.synchronize()
        self._cupy.cuda.Stream.null.use()
        self._cupy.get_default_memory_pool().free_all_blocks()

    def seed(self, seed: int) -> None:
        self._cupy.random.seed(seed)

    def synchronize(self) -> None:
        self._stream.synchronize()

    def record(self, run: Callable[[], None]) -> Callable[[], None]:
        self._stream.begin_capture()
        try:
            run()
        finally:
            graph = self._stream.end_capture()
        return lambda: graph.launch(self._stream)

    def peak_bytes(self) -> Optional[int]:
        # The pool gives nothing back meanwhile.
        return int(self._cupy.get_default_memory_pool().total_bytes())


class JaxCpu(Engine):
    """JAX's arrays are constant: those of a buffer that was filled anew are made anew."""

    copies = True

    def enter(self, problem: Any, stream: int) -> None:
        self._jax: Any = load("jax")[0]
        self._numpy: Any = load("numpy")[0]
        self._device = self._jax.devices("cpu")[0]

    def read(self, array: Any) -> Any:
        return self._jax.device_put(array, self._device)

    def copy(self, output: Any, result: Any) -> None:
        output[...] = self._numpy.asarray(result).reshape(output.shape)


class JaxCuda(TorchCuda):
    """Arrays are PyTorch's over the same memory, which JAX takes without a copy."""

    renews = True
    graphs = False

    def enter(self, problem: Any, stream: int) -> None:
        super().enter(problem, stream)
        self._jax: Any = load("jax")[0]
        self._pointer = stream

    def read(self, array: Any) -> Any:
        # JAX waits on its side for what this stream has queued until now.
        return self._jax.dlpack.from_dlpack(array)

    def queued(self, results: Any) -> None:
        for result in as_list(results):
            result.__dlpack__(stream=self._pointer)

    def copy(self, output: Any, result: Any) -> None:
        output.copy_(self._torch.from_dlpack(result).reshape(output.shape))

    def leave(self) -> None:
        self._jax.clear_caches()
        super().leave()

    def peak_bytes(self) -> Optional[int]:
        return None


def engine_of(kind: str, hardware: str) -> Engine:
    """The engine of an implementation's ARRAYS."""
    cpu, cuda = {"numpy": (Engine, Engine), "torch": (TorchCpu, TorchCuda), "cupy": (Cupy, Cupy), "jax": (JaxCpu, JaxCuda)}[kind]
    return (cuda if hardware == "cuda" else cpu)()


def as_list(results: Any) -> Sequence[Any]:
    """What a call returned, one for each output."""
    return results if isinstance(results, (tuple, list)) else (results,)
