"""Versions of a document: when and why they were made, and the spans of their chunks."""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import Literal, Self
from uuid import UUID

from pydantic import Field

from whence.api.base import AnswerShape
from whence.store.versions import OldVersion, VersionFacts


class DocumentVersion(AnswerShape):
    version: int
    version_at: datetime = Field(description="Time when its content was received.")
    reason: Literal["added", "new_content", "read_again"] | None = Field(
        description="The reason for the version. `read_again`: the same file, parsed or chunked again. Null if the version before is not stored."
    )
    chunk_count: int
    is_current: bool

    @classmethod
    def all(cls, found: Sequence[VersionFacts]) -> list[Self]:
        """All versions, newest first."""
        return [
            cls.of(one, reason=_find_reason(one, before), is_current=one is found[0])
            for one, before in pairwise([*found, None])
            if one is not None
        ]


def _find_reason(
    one: VersionFacts, before: VersionFacts | None
) -> Literal["added", "new_content", "read_again"] | None:
    if one.version == 1:
        return "added"
    if before is None or before.version != one.version - 1:
        return None
    return "read_again" if before.version_at == one.version_at else "new_content"


class VersionChunk(AnswerShape):
    id: UUID = Field(description="A chunk whose text does not change keeps its id in later versions.")
    start: int = Field(description="In code points.")
    end: int = Field(description="Exclusive; the white space before the next chunk is not included.")


class DocumentVersionText(DocumentVersion):
    text: str
    chunks: list[VersionChunk]

    @classmethod
    def made(cls, facts: DocumentVersion, content: OldVersion) -> Self:
        text = content.text
        spans = pairwise([*content.chunk_starts, len(text)])
        chunks = [
            VersionChunk(id=ident, start=start, end=start + len(text[start:end].rstrip()))
            for ident, (start, end) in zip(content.chunk_ids, spans, strict=True)
        ]
        return cls.of(facts, text=text, chunks=chunks)
