"""Bodies that are JSON or a form with files. Each file goes to disk part by part, whatever its size."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect

from whence.errors import BadInput, PayloadTooLarge
from whence.ingest import Inbox, IncomingFile
from whence.web.bodies import Model, read_json, validate

MAX_FILES = 1000
_MAX_FIELDS = 100
_MAX_FIELD = 64 * 1024
_MAX_HEADERS = 16 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    name: str
    content_type: str | None
    file: IncomingFile


@dataclass(frozen=True, slots=True)
class Form:
    fields: dict[str, str] = field(default_factory=dict)
    files: list[Upload] = field(default_factory=list)

    @property
    def chosen(self) -> list[Upload]:
        """The files, without the empty one that a form sends if none was chosen."""
        return [upload for upload in self.files if upload.name or upload.file.size]

    def read(self, model: type[Model]) -> Model:
        """The fields, without an empty `file` field."""
        return validate({n: value for n, value in self.fields.items() if n != "file" or value}, model)


@dataclass(frozen=True, slots=True)
class SentBody:
    """A body that the route reads when the rest of the request is known to be right: it may be large."""

    request: Request

    @property
    def is_form(self) -> bool:
        return self.request.headers.get("content-type", "").lower().startswith("multipart/form-data")

    async def read(self, model: type[Model]) -> Model:
        return await read_json(self.request, model)

    def form(self, inbox: Inbox) -> AbstractAsyncContextManager[Form]:
        """Its files exist until the block ends."""
        return _uploaded(self.request, inbox)


async def _sent_body(request: Request) -> SentBody:
    return SentBody(request)


Sent = Annotated[SentBody, Depends(_sent_body)]


@asynccontextmanager
async def _uploaded(request: Request, inbox: Inbox) -> AsyncIterator[Form]:
    _, options = parse_options_header(request.headers["content-type"])
    boundary = options.get(b"boundary")
    if not boundary:
        raise _unreadable("its Content-Type names no boundary")
    with ExitStack() as stack:
        reader = _Reader(stack, inbox)
        try:
            parser = MultipartParser(boundary, reader.callbacks())  # type: ignore[arg-type]  # the same as its TypedDict
            async for part in request.stream():
                parser.write(part)
                await reader.work()
            parser.finalize()
        except FormParserError as exc:
            raise _unreadable("it does not follow multipart/form-data") from exc
        except ClientDisconnect as exc:
            raise BadInput("The client went away before the request was complete") from exc
        if not reader.complete:
            raise _unreadable("it ends in the middle")
        yield reader.form


def _unreadable(reason: str) -> BadInput:
    return BadInput("The form cannot be read", details={"reason": reason, "expected": "multipart/form-data"})


class _Reader:
    """Receives the parser's callbacks; slow work is queued and done between two parts."""

    def __init__(self, stack: ExitStack, inbox: Inbox) -> None:
        self._stack = stack
        self._inbox = inbox
        self.form = Form()
        self.complete = False
        self._headers: dict[str, str] = {}
        self._header = ("", "")
        self._size = 0
        self._events: list[tuple[str, Any]] = []
        self._name = ""
        self._file: IncomingFile | None = None
        self._value = bytearray()

    def callbacks(self) -> dict[str, Callable[..., None]]:
        return {
            "on_part_begin": self._begin_headers,
            "on_header_field": lambda data, start, end: self._grow(0, data[start:end]),
            "on_header_value": lambda data, start, end: self._grow(1, data[start:end]),
            "on_header_end": self._end_header,
            "on_headers_finished": lambda: self._events.append(("part", self._headers)),
            "on_part_data": lambda data, start, end: self._events.append(("data", data[start:end])),
            "on_part_end": lambda: self._events.append(("end", None)),
            "on_end": lambda: setattr(self, "complete", True),
        }

    def _begin_headers(self) -> None:
        self._headers, self._header, self._size = {}, ("", ""), 0

    def _grow(self, which: int, part: bytes) -> None:
        self._size += len(part)
        if self._size > _MAX_HEADERS:
            raise _unreadable("the headers of a part are too long")
        text = part.decode("latin-1")  # byte for byte: a part may end inside a character
        name, value = self._header
        self._header = (name + text, value) if which == 0 else (name, value + text)

    def _end_header(self) -> None:
        name, value = self._header
        self._headers[name.strip().lower()] = value.strip()
        self._header = ("", "")

    async def work(self) -> None:
        events, self._events = self._events, []
        for kind, what in events:
            if kind == "part":
                self._begin(what)
            elif kind == "data":
                await self._data(what)
            else:
                await self._end()

    def _begin(self, headers: dict[str, str]) -> None:
        _, options = parse_options_header(headers.get("content-disposition", ""))
        self._name = options.get(b"name", b"").decode("utf-8", "replace")
        self._value, self._file = bytearray(), None
        if b"filename" not in options:
            if len(self.form.fields) >= _MAX_FIELDS:
                raise _unreadable(f"it has more than {_MAX_FIELDS} fields")
            return
        if len(self.form.files) >= MAX_FILES:
            raise _unreadable(f"it has more than {MAX_FILES} files")
        self._file = self._stack.enter_context(self._inbox.file())
        name = options[b"filename"].decode("utf-8", "replace")
        self.form.files.append(Upload(name=name, content_type=headers.get("content-type"), file=self._file))

    async def _data(self, part: bytes) -> None:
        if self._file is not None:
            await self._file.write(part)
            return
        self._value += part
        if len(self._value) > _MAX_FIELD:
            raise PayloadTooLarge(
                f"The field {self._name} is too long", details={"field": self._name, "max_bytes": _MAX_FIELD}
            )

    async def _end(self) -> None:
        if self._file is not None:
            await self._file.finish()
            return
        try:
            self.form.fields[self._name] = self._value.decode()
        except UnicodeDecodeError as exc:
            raise _unreadable(f"the field {self._name} is not UTF-8") from exc
