"""A Python worker of Opscope: computes with this Python's libraries, for main/backends/python/protocol.ts."""
from __future__ import annotations

import ctypes
import gc
import os
import platform
import signal
import sys
import threading
from typing import Any, Callable, Dict, Optional, Set, Tuple, Union

sys.dont_write_bytecode = True  # The folder may be part of an installed application.

import libraries
from failures import CaseFailure, failure_of
from frames import PROTOCOL_VERSION, FrameError, Pipe

REQUESTS_FD, ANSWERS_FD = 3, 4
ALIVE_SECONDS = 2.0


class Alive:
    """Says every two seconds what is being done, until the block ends."""

    def __init__(self, pipe: Pipe, request_id: int, doing: str) -> None:
        self._pipe = pipe
        self._id = request_id
        self._doing = doing
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._tell, daemon=True)

    def doing(self, what: str) -> None:
        self._doing = what

    def __enter__(self) -> "Alive":
        self._thread.start()
        return self

    def __exit__(self, *_error: Any) -> None:
        self._over.set()
        self._thread.join()

    def _tell(self) -> None:
        while not self._over.wait(ALIVE_SECONDS):
            try:
                self._pipe.send({"type": "alive", "id": self._id, "doing": self._doing[:200]})
            except OSError:
                os._exit(1)  # Nobody is left to compute for.


class Session:
    """The state between requests: the device, the library, and the case that is open."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._library: Any = None
        self._implementations: Dict[str, Any] = {}
        self._case: Any = None
        # Implementations whose libraries `_collect` no longer looks at.
        self._settled: Set[str] = set()
        self._hardware = "cpu"
        self._ordinal = 0

    def answer(self, request: Dict[str, Any]) -> Tuple[Dict[str, Any], Union[bytes, memoryview]]:
        handler: Optional[Callable[[Dict[str, Any]], Any]] = getattr(self, "do_" + request["do"], None)
        if handler is None:
            raise CaseFailure("internal", 'The request "%s" is not known.' % request["do"][:40])
        answer = handler(request)
        return answer if isinstance(answer, tuple) else (answer or {}, b"")

    def do_hello(self, request: Dict[str, Any]) -> Dict[str, Any]:
        if request["protocol"] != PROTOCOL_VERSION:
            raise CaseFailure("internal", "Protocol %s was asked for; this worker speaks %d." % (request["protocol"], PROTOCOL_VERSION))
        self._hardware, self._ordinal = request["hardware"], request["ordinal"]
        with Alive(self._pipe, request["id"], "importing libraries"):
            packages = libraries.packages()
            self._settle()
            import guest
            from implementations import discover

            self._library = guest.Library(request["guest"])
            self._implementations = discover()
            gc.freeze()
        return {"protocol": PROTOCOL_VERSION, "python": platform.python_version(), "packages": packages}

    def do_open(self, request: Dict[str, Any]) -> Dict[str, Any]:
        from cases import OpenCase

        if self._library is None:
            raise CaseFailure("internal", "A case was opened before `hello`.")
        implementation = self._implementations.get(request["impl"])
        if implementation is None:
            raise CaseFailure("unsupported", 'There is no implementation "%s"; expected one of %s.' % (request["impl"], ", ".join(self._implementations)))
        with Alive(self._pipe, request["id"], "opening") as alive:
            problem = implementation.availability(self._hardware)  # May import a compiler.
            if problem is not None:
                raise CaseFailure("unsupported", problem)
            if request["dtype"] not in implementation.kernels(self._hardware).get(request["op"], []):
                raise CaseFailure("unsupported", "%s has no %s in %s." % (implementation.TITLE, request["op"], request["dtype"]))
            self.do_close(request)
            self._case = OpenCase(self._library, implementation, request, self._hardware, self._ordinal, alive.doing)
        return self._case.facts

    def do_refill(self, request: Dict[str, Any]) -> None:
        self._open_case().refill(request["fills"], request["seed"])

    def do_poison(self, _request: Dict[str, Any]) -> None:
        self._open_case().poison()

    def do_run(self, _request: Dict[str, Any]) -> Dict[str, Any]:
        peak = self._open_case().run_observed()
        return {} if peak is None else {"libraryPeakBytes": peak}

    def do_scan(self, _request: Dict[str, Any]) -> Dict[str, Any]:
        return {"outputs": self._open_case().scan()}

    def do_read(self, request: Dict[str, Any]) -> Tuple[Dict[str, Any], Union[bytes, memoryview]]:
        values = self._open_case().read(request["output"], request["start"], request["count"])
        pieces = request.get("pieces")
        if pieces is None:
            return {}, values
        size = len(values) // request["count"]
        return {}, b"".join([values[start * size : (start + count) * size] for start, count in pieces])

    def do_sample(self, request: Dict[str, Any]) -> Tuple[Dict[str, Any], bytes]:
        taken = self._open_case().sample(request["mode"], request["count"], request["inner"])
        answer = {"count": taken["count"], "inner": taken["inner"], "arrays": list(taken["arrays"]), "state": taken["state"]}
        if taken["host_call_ns"] is not None:
            answer["hostCallNs"] = taken["host_call_ns"]
        return answer, b"".join(values.tobytes() for values in taken["arrays"].values())

    def do_close(self, _request: Dict[str, Any]) -> None:
        case, self._case = self._case, None
        try:
            if case is not None:
                case.close()
        finally:
            gc.collect()  # Also what a case that failed to open has left in its traceback.
            if case is not None and case.impl not in self._settled:
                # Libraries that its first case has imported: walking their objects after every case takes a tenth of a second.
                self._settled.add(case.impl)
                gc.freeze()

    def _open_case(self) -> Any:
        if self._case is None:
            raise CaseFailure("internal", "No case is open.")
        return self._case

    def _settle(self) -> None:
        """Settings for the whole life of this process."""
        from threads import flush_denormals

        flush_denormals()
        gc.disable()  # A collection in the middle of a sample would be timed; one runs after every case instead.
        torch: Any = libraries.load("torch")[0]
        if torch is not None:
            torch.inference_mode().__enter__()
            if self._hardware == "cuda" and libraries.cuda_problem() is None:
                torch.cuda.set_device(self._ordinal)


def take_pipes() -> Pipe:
    """The pipes of the protocol, kept from child processes; what libraries print goes to the standard error."""
    for descriptor in (REQUESTS_FD, ANSWERS_FD):
        os.set_inheritable(descriptor, False)
    if sys.platform == "win32":
        import msvcrt

        for descriptor in (REQUESTS_FD, ANSWERS_FD):
            msvcrt.setmode(descriptor, os.O_BINARY)
    os.dup2(2, 1)
    return Pipe(REQUESTS_FD, ANSWERS_FD)


def die_with_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal reaches the whole group; the parent decides.
    if sys.platform == "linux":
        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL, 0, 0, 0)


def serve(pipe: Pipe) -> None:
    session = Session(pipe)
    while True:
        request = pipe.receive()
        if request is None:
            return
        said: Dict[str, Any] = {"id": request["id"]}
        payload: Union[bytes, memoryview] = b""
        try:
            answer, payload = session.answer(request)
            said.update(type="answer", answer=answer)
        except BaseException as error:
            said.update(failure_fields(error))
        pipe.send(said, payload)


def failure_fields(error: BaseException) -> Dict[str, str]:
    """A failure without its id, within the lengths of protocol.ts."""
    failure = failure_of(error)
    fields = {"type": "failure", "code": failure.code, "message": failure.message[:4000]}
    if failure.detail:
        fields["detail"] = failure.detail[-20000:]
    return fields


def main() -> int:
    die_with_parent()
    try:
        serve(take_pipes())
    except FrameError as error:
        sys.stderr.write("Opscope's Python worker ends at %s.\n" % error)
        return 1
    except OSError as error:
        sys.stderr.write("Opscope's Python worker ends: %s.\n" % error)
        return 1
    return 0


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    # Libraries' own clean-up at exit may hang or crash, and nothing is left to keep.
    os._exit(code)
