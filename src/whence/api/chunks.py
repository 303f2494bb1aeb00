"""Chunks. The routes that read them encode by hand (docs/decisions/0004); these models document and check the same shape."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, ClassVar
from uuid import UUID

import orjson
from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from whence.api.base import AnswerShape, RequestShape
from whence.api.values import UUID_SCHEMA, Flag, JSONSchema, all_canonical, canonical_uuid
from whence.errors import BadInput, InvalidUUID
from whence.models import JobStatus, JobType

MAX_CHUNK_IDS = 100
_CHUNK_IDS = {"type": "array", "items": UUID_SCHEMA, "minItems": 1, "maxItems": MAX_CHUNK_IDS}
_EXAMPLE: JSONSchema = {"chunk_ids": ["6ba7b810-9dad-11d1-80b4-00c04fd430c8"], "include_source": True}
EXAMPLE_METADATA = {
    "strategy": "paragraph",
    "startOffset": 1180,
    "endOffset": 1222,
    "boundaryType": "paragraph",
    "headings": ["Results"],
    "source_page": 3,
    "char_offset": 1180,
    "token_count": 11,
}


def _decode(value: Any) -> Any:
    """Decodes JSON columns, which the store returns as encoded fragments of orjson."""
    return orjson.loads(orjson.dumps(value)) if isinstance(value, orjson.Fragment) else value


class SourceModel(AnswerShape):
    """The job (source document) behind a chunk."""

    job_id: UUID
    job_name: str = Field(examples=["quarterly_report_2024.pdf"])
    job_type: JobType
    status: JobStatus
    file_name: str = Field(examples=["quarterly_report_2024.pdf"])
    file_type: str = Field(examples=["application/pdf"])
    file_size: int = Field(examples=[2457600])
    created_at: datetime
    completed_at: datetime | None
    total_chunks: int = Field(examples=[42])


class ChunkModel(AnswerShape):
    id: UUID
    job_id: UUID
    document_id: UUID
    chunk_index: int
    content: str = Field(examples=["Revenue grew by 12 % in the third quarter."])
    content_hash: str = Field(description="sha256 of the content, in hex.", pattern="^[0-9a-f]{64}$")
    metadata: Annotated[dict[str, Any] | None, BeforeValidator(_decode)] = Field(
        description="The chunk's position in its document, and how it was cut.", examples=[EXAMPLE_METADATA]
    )
    created_at: datetime
    document_version: int = Field(description="The document's version when the chunk was read.")
    url: str | None = Field(description="A lasting link to the chunk.")
    source: SourceModel = Field(default=None, description="Only with `include_source`.")  # type: ignore[assignment]  # optional, but never null
    embedding: list[float] | None = Field(
        default=None, description="Only with `include_embedding`; null if the chunk has no vector."
    )


class BulkAnswer(AnswerShape):
    chunks: list[ChunkModel]
    found_count: int
    requested_count: int
    not_found: list[UUID]


def _read_chunk_ids(value: Any) -> list[str]:
    if not isinstance(value, list):
        raise BadInput("chunk_ids array is required", details={"field": "chunk_ids", "provided": value})
    if not 1 <= len(value) <= MAX_CHUNK_IDS:
        raise BadInput(
            f"chunk_ids must contain 1-{MAX_CHUNK_IDS} items",
            details={"provided": len(value), "max_allowed": MAX_CHUNK_IDS},
        )
    found = all_canonical(value)
    if found is None:
        index = next(index for index, item in enumerate(value) if canonical_uuid(item) is None)
        raise InvalidUUID(
            f"Invalid UUID format at index {index}", details={"index": index, "provided": value[index]}
        )
    return found


class BulkRequest(RequestShape):
    """The only request with documented names in snake_case, as in the answers about chunks."""

    model_config = ConfigDict(alias_generator=None, json_schema_extra={"example": _EXAMPLE})

    null_is_absent: ClassVar[bool] = False

    chunk_ids: Annotated[list[str], BeforeValidator(_read_chunk_ids), WithJsonSchema(_CHUNK_IDS)]
    include_embeddings: Flag = False
    include_source: Flag = False

    @model_validator(mode="before")
    @classmethod
    def _require_ids(cls, sent: Any) -> Any:
        if isinstance(sent, Mapping) and "chunk_ids" not in sent:
            raise BadInput("chunk_ids array is required", details={"field": "chunk_ids"})
        return sent
