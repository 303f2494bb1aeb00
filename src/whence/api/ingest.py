"""Requests to ingest, and receipts."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self
from uuid import UUID

from pydantic import AliasChoices, ConfigDict, Field

from whence.api.base import AnswerShape, CamelShape, StoredError
from whence.api.chunking import ChunkingFields
from whence.api.values import A_MOMENT, Flag, Ident, Value, content, json_object, wrong
from whence.models import VALID_FROM, JobStatus
from whence.text.dates import own_date

MAX_METADATA_BYTES = 16 * 1024
MAX_METADATA_DEPTH = 8

_METADATA = (
    "Metadata for filters of searches. It is merged into the document's; null removes a key.\n\n"
    f"`{VALID_FROM}`, a day or a time, is the document's own date, which orders claims."
)


def _read_name(value: Any) -> str:
    """Any text; `ingest.clean_name` turns it into a file name."""
    if not isinstance(value, str):
        raise wrong("a string", "request")
    return value


def _read_metadata(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = _FACTS.read(value)
    if found.get(VALID_FROM) is not None and own_date(found) is None:
        raise wrong(A_MOMENT, inside=f".{VALID_FROM}", provided=found[VALID_FROM])
    return found


def _read_origin(value: Any) -> str:
    if not isinstance(value, str) or not _ORIGIN.fullmatch(value):
        raise wrong(f"a text that begins with {UPLOADED}, of at most 2,000 characters")
    return value


UPLOADED = "upload:"
"""Scheme of origins that senders choose. Fetched URLs and local files have other schemes."""

_ORIGIN = re.compile(UPLOADED + r"[!-~]{1,1993}")
FILE_NAME_ALIASES = AliasChoices("name", "fileName", "file_name")
_Origin = Annotated[str, Value(_read_origin, {"type": "string", "pattern": f"^{_ORIGIN.pattern}$"})]
FileName = Annotated[str, Value(_read_name, {"type": "string"})]
_FACTS = json_object(max_depth=MAX_METADATA_DEPTH, max_bytes=MAX_METADATA_BYTES, as_text=True)
Metadata = Annotated[dict[str, Any], Value(_read_metadata, _FACTS.schema)]


class _Fields(ChunkingFields):
    metadata: Metadata | None = Field(
        default=None, description=_METADATA, examples=[{"team": "travel", "year": 2026}]
    )
    wait: Flag | None = Field(
        default=None, description="Answer when the document was ingested or has failed."
    )


class _IngestFields(_Fields):
    project_id: Ident | None = Field(
        default=None, description="Default: the key's project, or the default one."
    )


class URLIngest(_IngestFields):
    model_config = ConfigDict(
        json_schema_extra={"example": {"url": "https://example.com/handbook.pdf", "wait": True}}
    )

    url: Annotated[str, content(stored=False)] = Field(description="An http or https address.")


class TextIngest(_IngestFields):
    model_config = ConfigDict(
        json_schema_extra={
            "example": {"text": "# Leave\n\nEveryone has 30 days a year.", "name": "leave.md", "wait": True}
        }
    )

    text: Annotated[str, content()]
    name: FileName | None = Field(
        default=None,
        validation_alias=FILE_NAME_ALIASES,
        description="A file name; its ending determines the type.",
    )


class UploadForm(_IngestFields):
    """The form fields other than the files."""

    file_parts: ClassVar[tuple[str, ...]] = ("file",)

    folder: FileName | None = Field(
        default=None, description="A folder to put before the names of the files."
    )
    origin: _Origin | None = Field(
        default=None, description="The path of a single file on the sender's machine: `upload://host/path`."
    )


class _UpdateFields(_Fields):
    name: FileName | None = Field(
        default=None, validation_alias=FILE_NAME_ALIASES, description="The new name."
    )


class UpdateForm(_UpdateFields):
    """The form fields other than `file`, which may be absent."""

    file_parts: ClassVar[tuple[str, ...]] = ("file",)


class DocumentUpdate(_UpdateFields):
    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"required": [name], "properties": {name: {"not": {"type": "null"}}}}
                for name in ("chunkingStrategy", "chunkingOptions", "text", "name", "metadata")
            ],
            "example": {"chunkingStrategy": "paragraph"},
        }
    )

    text: Annotated[str | None, content()] = Field(default=None, description="The new content.")


class Ingested(CamelShape):
    file_name: str
    document_id: UUID | None = Field(description="Null if the file could not be stored.")
    job_id: UUID | None
    status: JobStatus
    already_exists: bool = Field(
        description="True if the project already has a document of this name (or URL) with the same bytes. Nothing is done then."
    )
    error: StoredError | None
    chunk_count: int = Field(default=0, description="Only with `wait`.")

    @classmethod
    def failed(cls, file_name: str, error: Mapping[str, Any], **more: Any) -> Self:
        nothing = {"document_id": None, "job_id": None, "status": "failed", "already_exists": False}
        return cls.of(nothing, file_name=file_name, error=error, **more)


class IngestedMany(AnswerShape):
    items: list[Ingested]
