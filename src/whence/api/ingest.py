"""Documents that come in: requests to ingest, and the receipts."""

from collections.abc import Mapping
from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import AliasChoices, ConfigDict, Field

from whence.api.base import AnswerShape, CamelShape, StoredError
from whence.api.chunking import ChunkingFields, ChunkingForm
from whence.api.values import (
    FLAG_PATTERN,
    Content,
    Flag,
    Ident,
    JSONObject,
    JSONSchema,
    Value,
    wrong,
)
from whence.models import JobStatus

MAX_METADATA_BYTES = 16 * 1024
MAX_METADATA_DEPTH = 8

WAIT = "Answer when the document was ingested or has failed."
_METADATA = "Facts about the document, for filters of searches. They are added to those that it has; null removes one."
_METADATA_TYPE = JSONObject(max_depth=MAX_METADATA_DEPTH, max_bytes=MAX_METADATA_BYTES, as_text=True)


class _FileName(Value):
    """Any text; `ingest.clean_name` decides what is kept of it."""

    def read(self, value: Any) -> str:
        if not isinstance(value, str):
            raise wrong("a string", "request")
        return value

    def schema(self) -> JSONSchema:
        return {"type": "string"}


class _FormFlag(Flag):
    def schema(self) -> JSONSchema:
        return {"type": "string", "pattern": FLAG_PATTERN}


class _FormObject(Value):
    """A JSON object as the text of a form field."""

    def read(self, value: Any) -> dict[str, Any]:
        return _METADATA_TYPE.read(value)

    def schema(self) -> JSONSchema:
        return {
            "type": "string",
            "contentMediaType": "application/json",
            "examples": ['{"team": "travel"}'],
        }


FILE_NAME_ALIASES = AliasChoices("name", "fileName", "file_name")
FileName = Annotated[str | None, _FileName()]
Metadata = Annotated[dict[str, Any] | None, _METADATA_TYPE]
OptionalProject = Annotated[UUID | None, Ident()]
Wait = Annotated[bool | None, Flag()]


class _Common(ChunkingFields):
    project_id: OptionalProject = Field(
        default=None, description="Default: the key's project, or the default one."
    )
    metadata: Metadata = Field(
        default=None, description=_METADATA, examples=[{"team": "travel", "year": 2026}]
    )
    wait: Wait = Field(default=None, description=WAIT)


class URLIngest(_Common):
    model_config = ConfigDict(
        json_schema_extra={"example": {"url": "https://example.com/handbook.pdf", "wait": True}}
    )

    url: Annotated[str, Content(stored=False)] = Field(description="An http or https address.")


class TextIngest(_Common):
    model_config = ConfigDict(
        json_schema_extra={
            "example": {"text": "# Leave\n\nEveryone has 30 days a year.", "name": "leave.md", "wait": True}
        }
    )

    text: Annotated[str, Content()]
    name: FileName = Field(
        default=None,
        validation_alias=FILE_NAME_ALIASES,
        description="A file name; its ending says what kind of text it is.",
    )


class UploadForm(ChunkingForm):
    """The fields beside the files."""

    project_id: OptionalProject = Field(
        default=None, description="Default: the key's project, or the default one."
    )
    metadata: Annotated[dict[str, Any] | None, _FormObject()] = Field(
        default=None, description="The metadata as JSON text."
    )
    wait: Annotated[bool | None, _FormFlag()] = Field(default=None, description=WAIT)


_CHANGES: list[Any] = [
    *({"required": [name]} for name in ("chunkingStrategy", "chunkingOptions")),
    *(
        {"required": [name], "properties": {name: {"not": {"type": "null"}}}}
        for name in ("text", "name", "metadata")
    ),
]


class DocumentUpdate(ChunkingFields):
    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": _CHANGES,
            "example": {"chunkingStrategy": "paragraph"},
        }
    )

    text: Annotated[str | None, Content()] = Field(default=None, description="The new content.")
    name: FileName = Field(default=None, validation_alias=FILE_NAME_ALIASES, description="The new name.")
    metadata: Metadata = Field(default=None, description=_METADATA)
    wait: Wait = Field(default=None, description=WAIT)


class UpdateForm(ChunkingForm):
    """The fields beside the `file`, which may be absent."""

    name: FileName = Field(default=None, validation_alias=FILE_NAME_ALIASES, description="The new name.")
    metadata: Annotated[dict[str, Any] | None, _FormObject()] = Field(
        default=None, description="The metadata as JSON text."
    )
    wait: Annotated[bool | None, _FormFlag()] = Field(default=None, description=WAIT)


class Ingested(CamelShape):
    file_name: str
    document_id: UUID | None = Field(description="Null where the file could not be kept.")
    job_id: UUID | None
    status: JobStatus
    already_exists: bool = Field(
        description="The project has a document of this name (or URL) with the same bytes; there is nothing to do."
    )
    error: StoredError | None
    chunk_count: int = Field(default=0, description="Only with `wait`.")

    @classmethod
    def failed(cls, file_name: str, error: Mapping[str, Any], **more: Any) -> Self:
        nothing = {"document_id": None, "job_id": None, "status": "failed", "already_exists": False}
        return cls.of(nothing, file_name=file_name, error=error, **more)


class IngestedMany(AnswerShape):
    items: list[Ingested]


class IngestOutcome(CamelShape):
    """One source of `whence ingest --json`."""

    source: str
    document_id: UUID | None
    job_id: UUID | None
    status: JobStatus
    already_exists: bool
    chunk_count: int
    error: str | None
