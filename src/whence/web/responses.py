"""Responses: one envelope for answers and one shape for errors."""

from collections.abc import Iterable, Mapping
from typing import Any, Generic, TypeVar

import orjson
from fastapi import Response

from whence.api.base import AnswerShape, Listing, Pagination
from whence.errors import (
    RangeNotSatisfiable,
    RateLimited,
    RequestTimeout,
    ServerBusy,
    ServerStopping,
    Unauthorized,
    WhenceError,
)
from whence.web.parameters import CursorRequest, PageRequest

T = TypeVar("T")
Shape = TypeVar("Shape", bound=AnswerShape)

NO_SNIFFING = (b"x-content-type-options", b"nosniff")
"""Headers of every answer: a browser must not run an uploaded file as one of our pages."""

_OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS
_LONGEST = 200
_HIDDEN = "…"


class EncodedJSON(Response):
    """A response of encoded JSON, which FastAPI passes on unchanged."""

    media_type = "application/json"

    def init_headers(self, headers: Mapping[str, str] | None = None) -> None:
        self.raw_headers = [
            (b"content-length", b"%d" % len(self.body)),
            (b"content-type", b"application/json"),
            *(
                (name.lower().encode("latin-1"), value.encode("latin-1"))
                for name, value in (headers or {}).items()
            ),
        ]


class Bare(EncodedJSON, Generic[T]):
    """An answer without the envelope: chat, OpenAI's protocol, health. Routes declare its model in their signature."""


class Enveloped(EncodedJSON, Generic[T]):
    """An answer in the envelope."""


def respond(answer: Shape, status: int = 200) -> Bare[Shape]:
    return Bare(answer.encode(), status_code=status)


def success(answer: Shape, status: int = 200) -> Enveloped[Shape]:
    return Enveloped(b'{"success":true,"data":%s}' % answer.encode(), status_code=status)


def listed(
    model: type[Shape], found: Iterable[Any], total: int, page: PageRequest
) -> Enveloped[Listing[Shape]]:
    return one_page([model.of(one) for one in found], total, page)


def one_page(items: list[Shape], total: int, page: PageRequest) -> Enveloped[Listing[Shape]]:
    return success(Listing(items=items[: page.limit], pagination=_build_pagination(len(items), total, page)))


def _build_pagination(found: int, total: int, page: PageRequest) -> Pagination:
    is_after = isinstance(page, CursorRequest) and page.after is not None
    has_more = found > page.limit if is_after else page.offset + found < total
    return Pagination(total=total, limit=page.limit, offset=page.offset, has_more=has_more)


def plain_success(data: Any) -> Enveloped[Any]:
    """Like `success`, for the hot chunk routes, whose rows orjson encodes without a model."""
    return Enveloped(b'{"success":true,"data":%s}' % encode(data))


def plain_page(items: list[Any], total: int, page: PageRequest) -> Enveloped[Any]:
    pagination = _build_pagination(len(items), total, page).model_dump()
    return plain_success({"items": items[: page.limit], "pagination": pagination})


def encode(content: Any) -> bytes:
    return orjson.dumps(content, option=_OPTIONS)


def _build_headers(error: WhenceError) -> dict[str, str]:
    """Headers that HTTP requires for some errors."""
    if isinstance(error, Unauthorized):
        return {"WWW-Authenticate": 'Bearer realm="whence"'}
    if isinstance(error, RequestTimeout | ServerStopping):
        return {"Connection": "close"}
    if isinstance(error, RangeNotSatisfiable):
        return {"Content-Range": f"bytes */{error.details['size']}"}
    if isinstance(error, RateLimited):
        return {"Retry-After": str(error.details["retry_after"])}
    return {"Retry-After": "1"} if isinstance(error, ServerBusy) else {}


def failure(error: WhenceError, headers: Mapping[str, str] | None = None) -> EncodedJSON:
    content = encode({"success": False, "error": error_body(error)})
    return EncodedJSON(
        content, status_code=error.status, headers={**_build_headers(error), **(headers or {})}
    )


def error_body(error: WhenceError) -> dict[str, Any]:
    details = {key: repeatable(value) for key, value in error.details.items()}
    return {"code": error.code, "message": printable(error.message), "details": details}


def repeatable(value: Any) -> Any:
    """A value from the request for an error's `details`: always encodable, and shortened if long."""
    if isinstance(value, str):
        return printable(value)
    try:
        encoded = orjson.dumps(value, default=str, option=_OPTIONS)
    except orjson.JSONEncodeError:  # nested too deeply, not Unicode, or a number of more than 64 bits
        return printable(str(value)) if isinstance(value, int) else _HIDDEN
    return orjson.loads(encoded) if len(encoded) <= _LONGEST else printable(encoded.decode())


def printable(text: str) -> str:
    text = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    return text.encode("utf-8", "replace").decode()
