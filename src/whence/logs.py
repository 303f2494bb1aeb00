"""Logging: one line per event on standard error, as text or JSON, with the request id."""

import json
import logging
import sys
import threading
import time
from contextlib import nullcontext, suppress
from contextvars import ContextVar
from typing import TextIO

from whence.settings import LogFormat, LogLevel

_WRITE_SECONDS = 0.1

request_id: ContextVar[str] = ContextVar("request_id", default="-")


def configure(level: LogLevel, style: LogFormat, *, batched: bool = False) -> None:
    """`batched` is for servers: records below warning are written a few times a second, not line by line."""
    handler = _Batched(sys.stderr) if batched else logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json() if style == "json" else _Text())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("whence").setLevel(level.upper())
    # Without a database these log every attempt with a stack trace; their callers log it once, in one line.
    for name in ("psycopg.pool", "procrastinate"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def escaped(text: str, *, keep: str = "") -> str:
    """The text with control characters, marks of direction among them, as escapes; `keep` are exceptions."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


class _Batched(logging.StreamHandler[TextIO]):
    """Writes many lines at once: writing each by itself would take up to a fifth of a request's time."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._lines: list[str] = []
        # No format uses these, and collecting them is most of a line's cost.
        logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
        threading.Thread(target=self._write_now_and_then, name="whence log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(self.format(record) + self.terminator)
        if record.levelno >= logging.WARNING:
            self.flush()

    def flush(self) -> None:
        with self.lock or nullcontext():
            lines, self._lines = self._lines, []
            if lines:
                self.stream.write("".join(lines))
                self.stream.flush()

    def _write_now_and_then(self) -> None:
        while True:
            time.sleep(_WRITE_SECONDS)
            with suppress(OSError, ValueError):  # the stream is closed; there is nowhere to report it
                self.flush()


class _Text(logging.Formatter):
    converter = staticmethod(time.gmtime)

    def __init__(self) -> None:
        super().__init__("%(asctime)s.%(msecs)03dZ %(levelname)-7s %(name)s %(message)s", "%Y-%m-%dT%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the base class's name
        line = escaped(super().formatMessage(record), keep="\n\t")
        ident = request_id.get()
        return line if ident == "-" else f"{line} [{ident}]"


class _Json(logging.Formatter):
    converter = staticmethod(time.gmtime)

    def format(self, record: logging.LogRecord) -> str:
        moment = self.formatTime(record, "%Y-%m-%dT%H:%M:%S")
        event = {
            "time": f"{moment}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if (ident := request_id.get()) != "-":
            event["request_id"] = ident
        if record.exc_info:
            event["exception"] = self.formatException(record.exc_info)
        line = json.dumps(event, ensure_ascii=False)
        return line if line.isprintable() else json.dumps(event)
