"""Reads documents from lines of JSON. Bad lines are reported with their number; the others are still read."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import orjson
from pydantic import ConfigDict, Field, model_validator

from whence.api.base import RequestShape
from whence.api.ingest import Metadata
from whence.api.reading import read
from whence.errors import BadInput, PayloadTooLarge, WhenceError
from whence.ingest.job_spec import clean_name
from whence.models import VALID_FROM, is_blank

_MAX_ID = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSource:
    """A document to be made of a text."""

    place: str
    """The file and line, or another source, for messages."""
    name: str
    text: str
    origin: str | None = None
    """Identifies the document when it comes again with another text."""
    metadata: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BadSource:
    place: str
    reason: str


class DocumentLine(RequestShape):
    """One line: `text` and the document's name, id, metadata and date."""

    model_config = ConfigDict(extra="forbid")

    text: str
    name: str | None = None
    id: str | int | None = Field(default=None, description="Its id where it comes from.")
    metadata: Metadata = Field(default_factory=dict)
    valid_from: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _date_to_metadata(cls, sent: Any) -> Any:
        if (
            isinstance(sent, dict)
            and sent.get(VALID_FROM) is not None
            and isinstance(sent.get("metadata", {}), dict)
        ):
            return {**sent, "metadata": {**sent.get("metadata", {}), VALID_FROM: sent[VALID_FROM]}}
        return sent


def read_lines(file: Path, *, limit: int) -> Iterator[TextSource | BadSource]:
    """`limit` is the maximum size of a line in bytes."""
    try:
        with file.open("rb") as opened:
            for number, line in enumerate(_lines(opened, limit), start=1):
                if line is None or line.strip():
                    yield _read_line(line, f"line {number}", default=f"{file.stem}-{number}.txt", limit=limit)
    except OSError as exc:
        raise WhenceError(f"Cannot read {file}: {exc.strerror or exc}") from exc


def _lines(opened: IO[bytes], limit: int) -> Iterator[bytes | None]:
    """None for a line that is too long. Its rest is skipped, never held in memory."""
    while line := opened.readline(limit + 1):
        if len(line) <= limit or line.endswith(b"\n"):
            yield line
            continue
        while (rest := opened.readline(limit)) and not rest.endswith(b"\n"):
            pass
        yield None


def _read_line(line: bytes | None, place: str, *, default: str, limit: int) -> TextSource | BadSource:
    try:
        if line is None:
            raise PayloadTooLarge(f"longer than {limit // 1024 // 1024} MB (WHENCE_MAX_UPLOAD_MB)")
        found = orjson.loads(line)
        if not isinstance(found, dict):
            raise BadInput("not a JSON object")
        return _source(read(DocumentLine, found), place, default)
    except orjson.JSONDecodeError as exc:
        return BadSource(place=place, reason=f"not valid JSON: {exc.msg}")
    except WhenceError as exc:
        return BadSource(place=place, reason=exc.message)


def _source(found: DocumentLine, place: str, default: str) -> TextSource:
    if is_blank(found.text):
        raise BadInput("text is empty")
    ident = None if found.id is None else str(found.id)
    if ident is not None and (is_blank(ident) or len(ident) > _MAX_ID or "\0" in ident):
        raise BadInput(f"id must be a text of 1 to {_MAX_ID} characters, or a number")
    name = found.name or (default if ident is None else f"{ident}.txt")
    return TextSource(
        place=place,
        name=clean_name(name),
        text=found.text,
        origin=None if ident is None else f"import:{ident}",
        metadata=found.metadata or None,
    )
