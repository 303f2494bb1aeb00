"""Streams the text of a document, as JSON or as plain text with byte ranges, in parts that take little memory."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping

from fastapi.responses import StreamingResponse

from whence.api.documents import DocumentText
from whence.store import Store
from whence.store.texts import MeasuredSpan
from whence.web.ranges import ByteSpan
from whence.web.responses import encode, success

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
    etag = f'"{span.document_id}-{span.version}"'
    asked = ByteSpan.asked(sent, size=span.size, etag=etag)
    return StreamingResponse(
        _read_bytes(store, span, asked.first, asked.last),
        status_code=asked.status,
        media_type="text/plain",
        headers=asked.headers(etag),
    )


async def _read_bytes(store: Store, span: MeasuredSpan, first: int, last: int) -> AsyncGenerator[bytes, None]:
    at = 0
    if span.size == span.end - span.start:  # all ASCII, so the parts before need not be read
        span, at = span.cut(first, last + 1), first
    async for part in store.texts.parts(span):
        content = part.encode()
        if at + len(content) > first:
            yield content[max(first - at, 0) : last + 1 - at]
        at += len(content)
        if at > last:
            return
