"""Streams the text of a document, as JSON or as plain text with byte ranges, in parts that take little memory."""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import replace

from fastapi.responses import StreamingResponse

from whence.api.documents import DocumentText
from whence.errors import RangeNotSatisfiable
from whence.store import Store
from whence.store.texts import MeasuredSpan
from whence.web.responses import encode, success

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
_NO_TEXT = b'"text":""'


def text_as_json(store: Store, span: MeasuredSpan) -> StreamingResponse:
    fields = {name: getattr(span, name) for name in DocumentText.model_fields if name != "text"}
    before, after = bytes(success(DocumentText.of(fields, text="")).body).split(_NO_TEXT, 1)

    async def content() -> AsyncIterator[bytes]:
        yield before + _NO_TEXT[:-1]
        async for part in store.texts.parts(span):
            yield encode(part)[1:-1]
        yield _NO_TEXT[-1:] + after

    return StreamingResponse(content(), media_type="application/json")


def text_as_it_is(store: Store, span: MeasuredSpan, sent: Mapping[str, str]) -> StreamingResponse:
    """Answers `Range`, unless `If-Range` names another version."""
    etag = f'"{span.document_id}-{span.version}"'
    headers = {"Accept-Ranges": "bytes", "ETag": etag, "Content-Length": str(span.size)}
    asked = sent.get("range", "") if sent.get("if-range", etag) == etag else ""
    found = _RANGE.fullmatch(asked.replace(" ", ""))
    media_type = "text/plain"
    if found is None or not any(found.groups()):  # several ranges, or none: the whole text is a valid answer
        parts = (part.encode() async for part in store.texts.parts(span))
        return StreamingResponse(parts, media_type=media_type, headers=headers)
    first, last = _bytes_asked(*found.groups(), size=span.size)
    headers |= {
        "Content-Length": str(last - first + 1),
        "Content-Range": f"bytes {first}-{last}/{span.size}",
    }
    return StreamingResponse(
        _bytes(store, span, first, last), status_code=206, media_type=media_type, headers=headers
    )


def _bytes_asked(start: str, end: str, *, size: int) -> tuple[int, int]:
    """The first and the last byte; without a start, `end` counts from the end."""
    first = int(start) if start else max(size - int(end), 0)
    last = min(int(end), size - 1) if start and end else size - 1
    if first > last or (start and end and int(end) < int(start)):
        raise RangeNotSatisfiable(details={"size": size})
    return first, last


async def _bytes(store: Store, span: MeasuredSpan, first: int, last: int) -> AsyncGenerator[bytes, None]:
    at = 0
    if span.size == span.end - span.start:  # all ASCII: no need to read the parts before
        span, at = replace(span, start=span.start + first, end=span.start + last + 1), first
    async for part in store.texts.parts(span):
        content = part.encode()
        if at + len(content) > first:
            yield content[max(first - at, 0) : last + 1 - at]
        at += len(content)
        if at > last:
            return
