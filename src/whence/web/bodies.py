"""Reads request bodies: JSON, and forms with files. Files are written to disk part by part."""

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar
from urllib.parse import unquote

import orjson
from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect

from whence.errors import BadInput, PayloadTooLarge
from whence.ingest import Inbox, IncomingFile

Model = TypeVar("Model", bound=BaseModel)

FILE_SCHEMA = {"type": "string", "format": "binary"}
MAX_FILES = 1000
_MAX_FIELDS = 100
_QUOTED = re.compile("%22|%0[AD]", re.IGNORECASE)
"""Characters of a file name as browsers and HTTP clients escape them in a form."""
_MAX_FIELD = 64 * 1024


def parse_json(body: bytes) -> Any:
    """Raises `json.JSONDecodeError`, or `BadInput` that names the field with invalid Unicode."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as exc:
        if b"\\u" in body:
            _require_unicode(body)
        raise json.JSONDecodeError(exc.msg.partition(":")[0], "", exc.pos) from exc


def _require_unicode(body: bytes) -> None:
    """Names the field with a lone surrogate, which orjson refuses and the standard library reads."""
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError):
        return
    for name, value in sent.items() if isinstance(sent, dict) else [("", sent)]:
        try:
            orjson.dumps({name: value})
        except orjson.JSONEncodeError as exc:
            details = {"field": name, "expected": "valid Unicode text"}
            raise BadInput(
                f"{name or 'The request body'} must be valid Unicode text", details=details
            ) from exc


class JSONRequest(Request):
    """Replaces FastAPI's parser of JSON bodies."""

    async def json(self) -> Any:
        return parse_json(await self.body())


async def _read_raw_body(request: Request) -> bytes:
    return await request.body()


RawBody = Annotated[bytes, Depends(_read_raw_body)]


async def read_json(request: Request, model: type[Model]) -> Model:
    try:
        sent = parse_json(await request.body())
    except json.JSONDecodeError as exc:
        details = {"position": exc.pos, "reason": exc.msg}
        raise BadInput("The request body is not valid JSON", details=details) from exc
    return validate(sent, model)


def validate(sent: Any, model: type[Model]) -> Model:
    """Raises the same error as FastAPI, so that one handler in `web.errors` serves both."""
    try:
        return model.model_validate(sent)
    except ValidationError as exc:
        errors = [{**error, "loc": ("body", *error["loc"])} for error in exc.errors()]
        raise RequestValidationError(errors, body=sent) from exc


def declared_body(
    json: type[BaseModel] | None = None, form: type[BaseModel] | None = None, **files: dict[str, Any]
) -> dict[str, Any]:
    """OpenAPI's `requestBody`. `files` are the file parts of the form."""
    content: dict[str, Any] = {}
    if json is not None:
        content["application/json"] = {"schema": _inline(json.model_json_schema())}
    if form is not None:
        schema = _inline(form.model_json_schema())
        needed = [name for name, part in files.items() if part.pop("required", False)]
        schema["properties"] = files | {n: _convert_to_form_field(s) for n, s in schema["properties"].items()}
        content["multipart/form-data"] = {"schema": schema | ({"required": needed} if needed else {})}
    # Not required: for a required body of two kinds, openapi-python-client generates a module that cannot be imported.
    return {"requestBody": {"required": len(content) == 1, "content": content}}


def _inline(schema: dict[str, Any]) -> dict[str, Any]:
    if "$defs" in schema:
        raise TypeError(f"{schema['title']} must not refer to other models: it is declared in place")
    return schema


def _convert_to_form_field(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a form field, which is text: objects are JSON text, flags are words, and there is no null."""
    kinds = {one["type"]: one for one in schema["anyOf"]}
    about = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    if "object" not in kinds:
        return {**kinds["string"], **about}
    about["description"] += " As JSON text."
    about["examples"] = [json.dumps(one) for one in about["examples"]]
    return {"type": "string", "contentMediaType": "application/json", **about}


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
        """The files, without the empty part that a browser sends if no file was chosen."""
        return [upload for upload in self.files if upload.name or upload.file.size]

    def read(self, model: type[Model]) -> Model:
        """The fields, without an empty `file` field."""
        return validate({n: value for n, value in self.fields.items() if n != "file" or value}, model)


@dataclass(frozen=True, slots=True)
class SentBody:
    """A body that the route reads itself, after the rest of the request was checked, because it may be large."""

    request: Request

    @property
    def is_form(self) -> bool:
        return self.request.headers.get("content-type", "").lower().startswith("multipart/form-data")

    async def read(self, model: type[Model]) -> Model:
        return await read_json(self.request, model)

    @asynccontextmanager
    async def form(self, inbox: Inbox) -> AsyncIterator[Form]:
        """Read the form. Its files exist until the block ends."""
        _, options = parse_options_header(self.request.headers["content-type"])
        boundary = options.get(b"boundary")
        if not boundary:
            raise _make_form_error("its Content-Type names no boundary")
        with ExitStack() as stack:
            reader = _Reader(stack, inbox)
            try:
                parser = MultipartParser(boundary, reader.callbacks())  # type: ignore[arg-type]  # the same as its TypedDict
                async for part in self.request.stream():
                    parser.write(part)
                    await reader.work()
                parser.finalize()
            except FormParserError as exc:
                raise _make_form_error("it does not follow multipart/form-data") from exc
            except ClientDisconnect as exc:
                raise BadInput("The client disconnected before the request was complete") from exc
            if not reader.complete:
                raise _make_form_error("it ends in the middle")
            yield reader.form


async def _make_sent_body(request: Request) -> SentBody:
    return SentBody(request)


Sent = Annotated[SentBody, Depends(_make_sent_body)]


def _make_form_error(reason: str) -> BadInput:
    return BadInput("The form cannot be read", details={"reason": reason, "expected": "multipart/form-data"})


class _Reader:
    """Receives the parser's callbacks. Slow work is queued and done between two parts of the body."""

    def __init__(self, stack: ExitStack, inbox: Inbox) -> None:
        self._stack = stack
        self._inbox = inbox
        self.form = Form()
        self.complete = False
        self._headers: list[list[bytes]] = []
        self._events: list[tuple[str, Any]] = []
        self._name = ""
        self._file: IncomingFile | None = None
        self._value = bytearray()
        self._parts = 0

    def callbacks(self) -> dict[str, Callable[..., None]]:
        return {
            "on_header_begin": lambda: self._headers.append([b"", b""]),
            "on_header_field": lambda data, start, end: self._grow(0, data[start:end]),
            "on_header_value": lambda data, start, end: self._grow(1, data[start:end]),
            "on_headers_finished": self._finish_headers,
            "on_part_data": lambda data, start, end: self._events.append(("data", data[start:end])),
            "on_part_end": lambda: self._events.append(("end", None)),
            "on_end": lambda: setattr(self, "complete", True),
        }

    def _grow(self, which: int, part: bytes) -> None:
        self._headers[-1][which] += part

    def _finish_headers(self) -> None:
        self._parts += 1
        if self._parts > _MAX_FIELDS + MAX_FILES:  # also if they have the same name
            raise _make_form_error(f"it has more than {_MAX_FIELDS} fields and {MAX_FILES} files")
        headers = {name.strip().lower(): value.strip() for name, value in self._headers}
        self._events.append(("part", headers))
        self._headers = []

    async def work(self) -> None:
        events, self._events = self._events, []
        for kind, what in events:
            if kind == "part":
                self._begin(what)
            elif kind == "data":
                await self._append_data(what)
            else:
                await self._end()

    def _begin(self, headers: dict[bytes, bytes]) -> None:
        _, options = parse_options_header(headers.get(b"content-disposition", b""))
        self._name = options.get(b"name", b"").decode("utf-8", "replace")
        self._value, self._file = bytearray(), None
        if b"filename" not in options:
            if len(self.form.fields) >= _MAX_FIELDS:
                raise _make_form_error(f"it has more than {_MAX_FIELDS} fields")
            return
        if len(self.form.files) >= MAX_FILES:
            raise _make_form_error(f"it has more than {MAX_FILES} files")
        self._file = self._stack.enter_context(self._inbox.file())
        name = _QUOTED.sub(lambda found: unquote(found[0]), options[b"filename"].decode("utf-8", "replace"))
        content_type = headers.get(b"content-type", b"").decode("latin-1") or None
        self.form.files.append(Upload(name=name, content_type=content_type, file=self._file))

    async def _append_data(self, part: bytes) -> None:
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
            raise _make_form_error(f"the field {self._name} is not UTF-8") from exc
