"""The log: one line for each event on standard error, for people or for machines, with the request's id in it."""

import json
import logging
import sys
import time
from contextvars import ContextVar

from whence.settings import LogFormat, LogLevel

request_id: ContextVar[str] = ContextVar("request_id", default="-")


def configure(level: LogLevel, style: LogFormat) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json() if style == "json" else _Text())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("whence").setLevel(level.upper())
    # Without a database these report every try with its whole stack; what uses them says it once, in a line.
    for name in ("psycopg.pool", "procrastinate"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


class _Text(logging.Formatter):
    converter = staticmethod(time.gmtime)

    def __init__(self) -> None:
        super().__init__("%(asctime)s.%(msecs)03dZ %(levelname)-7s %(name)s %(message)s", "%Y-%m-%dT%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the base class's name
        line = super().formatMessage(record)
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
        return json.dumps(event, ensure_ascii=False)
