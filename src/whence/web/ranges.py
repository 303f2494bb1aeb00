"""Byte ranges: the part of a file or a text that `Range` asks for."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from whence.errors import RangeNotSatisfiable

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteSpan:
    """Bytes of something that has `size` bytes: all of them, or those from `first` to `last`."""

    size: int
    first: int
    last: int
    is_part: bool

    @property
    def status(self) -> int:
        return 206 if self.is_part else 200

    @property
    def end(self) -> int:
        return self.last + 1

    @classmethod
    def asked(cls, sent: Mapping[str, str], *, size: int, etag: str) -> "ByteSpan":
        """All bytes without `Range`, with several ranges, or if `If-Range` names another version."""
        asked = sent.get("range", "") if sent.get("if-range", etag) == etag else ""
        found = _RANGE.fullmatch(asked.replace(" ", ""))
        if found is None or not any(found.groups()):
            return cls(size=size, first=0, last=size - 1, is_part=False)
        start, end = found.groups()
        first = int(start) if start else max(size - int(end), 0)
        last = min(int(end), size - 1) if start and end else size - 1
        if first > last:
            raise RangeNotSatisfiable(details={"size": size})
        return cls(size=size, first=first, last=last, is_part=True)

    def headers(self, etag: str) -> dict[str, str]:
        headers = {"Accept-Ranges": "bytes", "ETag": etag, "Content-Length": str(self.end - self.first)}
        if self.is_part:
            headers["Content-Range"] = f"bytes {self.first}-{self.last}/{self.size}"
        return headers
