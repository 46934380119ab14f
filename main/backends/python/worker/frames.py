"""Frames of main/backends/python/protocol.ts: magic, header bytes, payload bytes (u32, little-endian), JSON, payload."""
from __future__ import annotations

import json
import os
import struct
import threading
from typing import Any, Dict, Optional, Union

PROTOCOL_VERSION = 3
MAGIC = 0x4F505357
MOST_HEADER_BYTES = 1 << 20
MOST_PAYLOAD_BYTES = 64 << 20
_PREFIX = struct.Struct("<III")


class FrameError(Exception):
    """What is wrong with a frame, and what was expected."""


class Pipe:
    """Requests from one file descriptor, answers to another; any thread may send."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._sending = threading.Lock()

    def receive(self) -> Optional[Dict[str, Any]]:
        """The header of the next request, or None at the end. Requests have no payload."""
        prefix = self._read(_PREFIX.size, at_start=True)
        if prefix is None:
            return None
        magic, header_bytes, payload_bytes = _PREFIX.unpack(prefix)
        if magic != MAGIC:
            raise FrameError("a frame starts with 0x%08x; expected 0x%08x" % (magic, MAGIC))
        if header_bytes > MOST_HEADER_BYTES:
            raise FrameError("a header of %d bytes; at most %d are read" % (header_bytes, MOST_HEADER_BYTES))
        if payload_bytes != 0:
            raise FrameError("a request with %d bytes of payload; expected none" % payload_bytes)
        text = self._read(header_bytes, at_start=False)
        try:
            header = json.loads(text.decode("utf-8"))  # type: ignore[union-attr]
        except ValueError as error:
            raise FrameError("a header that is no JSON: %s" % error)
        if not isinstance(header, dict) or not isinstance(header.get("id"), int) or not isinstance(header.get("do"), str):
            raise FrameError("a header without `id` and `do`")
        return header

    def send(self, header: Dict[str, Any], payload: Union[bytes, memoryview] = b"") -> None:
        """Raises FrameError where it would be too large, OSError where nobody reads."""
        # NaN and infinity are no JSON: better an error here than a header nobody can parse.
        text = json.dumps(header, allow_nan=False).encode("utf-8")
        if len(text) > MOST_HEADER_BYTES or len(payload) > MOST_PAYLOAD_BYTES:
            raise FrameError("an answer of %d and %d bytes; at most %d and %d are sent" % (len(text), len(payload), MOST_HEADER_BYTES, MOST_PAYLOAD_BYTES))
        with self._sending:
            for part in (_PREFIX.pack(MAGIC, len(text), len(payload)) + text, payload):
                view = memoryview(part)
                while view:
                    view = view[os.write(self._sink, view) :]

    def _read(self, count: int, at_start: bool) -> Optional[bytes]:
        parts = []
        left = count
        while left > 0:
            part = os.read(self._source, min(left, 1 << 20))
            if not part:
                if at_start and left == count:
                    return None
                raise FrameError("the end %d bytes before the end of a frame" % left)
            parts.append(part)
            left -= len(part)
        return b"".join(parts)
