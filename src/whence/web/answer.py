"""What goes out: one envelope for answers, one shape for errors."""

from collections.abc import Mapping
from typing import Any

import orjson
from fastapi import Response

from whence.errors import WhenceError

_OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS
_SHOWN = 200
_UNSHOWN = "…"


def encode(content: Any) -> bytes:
    return orjson.dumps(content, option=_OPTIONS)


class JSON(Response):
    """A response of bytes made by orjson; FastAPI passes it on untouched."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return encode(content)

    def init_headers(self, headers: Mapping[str, str] | None = None) -> None:
        self.raw_headers = [
            (b"content-length", b"%d" % len(self.body)),
            (b"content-type", b"application/json"),
            *(
                (name.lower().encode("latin-1"), value.encode("latin-1"))
                for name, value in (headers or {}).items()
            ),
        ]


def success(data: Any, status: int = 200) -> JSON:
    return JSON({"success": True, "data": data}, status_code=status)


def page(items: list[Any], *, total: int, limit: int, offset: int) -> JSON:
    return success(paged(items, total=total, limit=limit, offset=offset))


def paged(items: list[Any], *, total: int, limit: int, offset: int) -> dict[str, Any]:
    pagination = {"total": total, "limit": limit, "offset": offset, "has_more": offset + len(items) < total}
    return {"items": items, "pagination": pagination}


def failure(error: WhenceError, headers: Mapping[str, str] | None = None) -> JSON:
    details = {key: shown(value) for key, value in error.details.items()}
    content = {"code": error.code, "message": printable(error.message), "details": details}
    return JSON({"success": False, "error": content}, status_code=error.status, headers=headers)


def shown(value: Any) -> Any:
    """A value from a request as an error may repeat it: in JSON as it came, and always encodable; a text where it is long."""
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int) and abs(value) < 2**63:
        return value
    if isinstance(value, Mapping | list | tuple):
        return _shown_whole(value)
    return printable(str(value))


def _shown_whole(value: Mapping[Any, Any] | list[Any] | tuple[Any, ...]) -> Any:
    try:
        said = orjson.dumps(value, default=str, option=_OPTIONS)
    except orjson.JSONEncodeError:  # too deep, or with what is no text
        return _UNSHOWN
    return orjson.loads(said) if len(said) <= _SHOWN else printable(said.decode())


def printable(text: str) -> str:
    text = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    return text.encode("utf-8", "replace").decode()
