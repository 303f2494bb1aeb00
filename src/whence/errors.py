"""Every error that Whence raises on purpose, each with a code, an HTTP status and a default message: its docstring.

The command line prints a `SetupError` and exits with 3.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal


class WhenceError(Exception):
    """Internal server error"""

    code: ClassVar[str] = "INTERNAL_ERROR"
    status: ClassVar[int] = 500
    permanent: ClassVar[bool] = False
    """Whether a retry would fail again: a job that raises it is not retried."""

    def __init_subclass__(
        cls, *, code: str | None = None, status: int | None = None, permanent: bool | None = None
    ) -> None:
        """Takes the attributes that differ from those of the base class."""
        cls.code = cls.code if code is None else code
        cls.status = cls.status if status is None else status
        cls.permanent = cls.permanent if permanent is None else permanent

    def __init__(self, message: str | None = None, *, details: Mapping[str, Any] | None = None) -> None:
        self.message = message or (type(self).__doc__ or "").strip()
        self.details = dict(details or {})
        super().__init__(self.message)


class BadInput(WhenceError, code="INVALID_REQUEST", status=400, permanent=True):
    """The request is not valid"""


class InvalidParameter(BadInput, code="INVALID_PARAMETER"):
    """A parameter has a value that is not allowed"""

    @classmethod
    def of(
        cls, parameter: str, *, provided: Any, expected: str, message: str | None = None
    ) -> "InvalidParameter":
        details = {"parameter": parameter, "provided": provided, "expected": expected}
        return cls(message or f"{parameter} must be {expected}", details=details)

    @classmethod
    def unknown(cls, parameter: str, *, provided: Any, known: Iterable[str]) -> "InvalidParameter":
        """For a name that is not known here, probably a typing error."""
        names = ", ".join(known)
        return cls.of(
            parameter,
            provided=provided,
            expected=f"one of {names}" if names else "none",
            message=f"{parameter} is unknown; {f'known are {names}' if names else 'there are none here'}",
        )


class InvalidSchema(BadInput, code="INVALID_SCHEMA"):
    """The extraction schema is not valid"""

    @classmethod
    def at(cls, path: str, *, provided: Any, expected: str) -> "InvalidSchema":
        details = {"path": path, "provided": provided, "expected": expected}
        return cls(f"{path} must be {expected}", details=details)


class InvalidUUID(BadInput, code="INVALID_UUID"):
    """Invalid UUID format"""


class URLRefused(BadInput, code="URL_REFUSED"):
    """This URL is not fetched"""


class PayloadTooLarge(BadInput, code="PAYLOAD_TOO_LARGE", status=413):
    """Request payload too large"""


class URLTooLong(BadInput, code="URL_TOO_LONG", status=414):
    """The request's URL is too long"""


class HeadersTooLarge(BadInput, code="HEADERS_TOO_LARGE", status=431):
    """The request's headers are too large"""


class RequestTimeout(BadInput, code="REQUEST_TIMEOUT", status=408):
    """The request did not arrive in time"""


UnreadableReason = Literal[
    "encrypted",
    "empty",
    "corrupt",
    "no_text",
    "too_large",
    "too_slow",
    "out_of_memory",
    "unsupported",
    "crashed",
]


class UnreadableDocument(BadInput, code="UNREADABLE_DOCUMENT"):
    """The document cannot be read"""


class Unauthorized(WhenceError, code="UNAUTHORIZED", status=401):
    """A valid API key is required"""


class Forbidden(WhenceError, code="FORBIDDEN", status=403):
    """This API key does not allow that"""


class NotFound(WhenceError, code="NOT_FOUND", status=404, permanent=True):
    """Not found"""


class ProjectNotFound(NotFound, code="PROJECT_NOT_FOUND"):
    """Project not found"""


class DocumentNotFound(NotFound, code="DOCUMENT_NOT_FOUND"):
    """Document not found"""


class PageNotFound(NotFound, code="PAGE_NOT_FOUND"):
    """The document does not have this page"""


class PageImageNotFound(NotFound, code="PAGE_IMAGE_NOT_FOUND"):
    """There are no pictures of this document's pages: only those of PDF files and pictures whose original was kept can be shown"""


class JobNotFound(NotFound, code="JOB_NOT_FOUND"):
    """Job not found"""


class ChunkNotFound(NotFound, code="CHUNK_NOT_FOUND"):
    """Chunk not found"""


class SchemaNotFound(NotFound, code="SCHEMA_NOT_FOUND"):
    """Schema not found"""


class ObjectNotFound(NotFound, code="OBJECT_NOT_FOUND"):
    """Object not found"""


class RelationshipNotFound(NotFound, code="RELATIONSHIP_NOT_FOUND"):
    """Relationship not found"""


class MergeNotFound(NotFound, code="MERGE_NOT_FOUND"):
    """Merge not found"""


class SuggestionNotFound(NotFound, code="SUGGESTION_NOT_FOUND"):
    """Merge suggestion not found"""


class ClaimNotFound(NotFound, code="CLAIM_NOT_FOUND"):
    """There is no such claim about the object"""


class ConversationNotFound(NotFound, code="CONVERSATION_NOT_FOUND"):
    """Conversation not found"""


class AnswerNotFound(NotFound, code="ANSWER_NOT_FOUND"):
    """Answer not found"""


class KeyNotFound(NotFound, code="KEY_NOT_FOUND"):
    """There is no active key with this id"""


class CurationNotFound(NotFound, code="CURATION_NOT_FOUND"):
    """There is no such correction"""


class MethodNotAllowed(WhenceError, code="METHOD_NOT_ALLOWED", status=405):
    """This route does not answer that method"""


class Conflict(WhenceError, code="CONFLICT", status=409, permanent=True):
    """That conflicts with what is stored"""


class RangeNotSatisfiable(WhenceError, code="RANGE_NOT_SATISFIABLE", status=416):
    """There are no such bytes"""


class StrategyError(WhenceError, code="STRATEGY_ERROR", permanent=True):
    """The chunking strategy does not work"""


class FetchFailed(WhenceError, code="FETCH_FAILED", status=502):
    """The URL could not be fetched"""


class FetchTimeout(FetchFailed, code="FETCH_TIMEOUT", status=504):
    """Fetching the URL took too long"""


class RateLimited(WhenceError, code="RATE_LIMITED", status=429):
    """This API key has used up its minute"""


class ServerBusy(WhenceError, code="SERVER_BUSY", status=503):
    """The server has too much to do; try again"""


class ServerStopping(WhenceError, code="SERVER_STOPPING", status=503):
    """The server is stopping; send the request again"""


class DatabaseUnavailable(WhenceError, code="DATABASE_UNAVAILABLE", status=503):
    """The database does not answer"""


class DatabaseBusy(DatabaseUnavailable, code="DATABASE_BUSY"):
    """Another operation is changing the same data and has not finished; try again"""


class StorageUnavailable(WhenceError, code="STORAGE_UNAVAILABLE", status=503):
    """The storage of originals does not answer"""


class EmbeddingError(WhenceError, code="EMBEDDING_ERROR", status=502):
    """Texts cannot be embedded"""


class EmbeddingUnavailable(EmbeddingError, code="EMBEDDING_UNAVAILABLE", status=503):
    """The embedding model does not answer"""


class EmbeddingRefused(EmbeddingError, code="EMBEDDING_REFUSED", permanent=True):
    """The embedding endpoint refused the request"""


class EmbeddingInvalid(EmbeddingError, code="EMBEDDING_INVALID", permanent=True):
    """The embedding endpoint gave no usable vectors"""


class UnreadableReply(WhenceError, code="UNREADABLE_REPLY", status=502):
    """The extraction model's reply cannot be read"""


class CutOffReply(UnreadableReply, code="CUT_OFF_REPLY"):
    """The extraction model's reply is cut off"""


class ExtractionFailed(WhenceError, code="EXTRACTION_FAILED", status=502, permanent=True):
    """None of the chunks could be read"""


class RerankError(WhenceError, code="RERANK_ERROR", status=502):
    """The rerank endpoint failed"""


class ModelError(WhenceError, code="MODEL_ERROR", status=502):
    """The chat model gave no answer"""


class ModelUnavailable(ModelError, code="MODEL_UNAVAILABLE"):
    """The chat model does not answer"""


class ModelTimeout(ModelUnavailable, code="MODEL_TIMEOUT", status=504):
    """The chat model took too long"""


class ModelRefused(ModelError, code="MODEL_REFUSED", permanent=True):
    """The chat model refused the request"""


class ModelInvalid(ModelError, code="MODEL_INVALID", permanent=True):
    """The chat model's answer cannot be read"""


class SetupError(WhenceError, code="SETUP_ERROR", permanent=True):
    """Whence cannot start"""


class SettingsError(SetupError, code="SETTINGS_ERROR"):
    """A setting has a value that is not allowed"""

    @classmethod
    def of(cls, setting: str, *, provided: Any, expected: str) -> "SettingsError":
        given = "" if provided is None else f", not {provided!r}"
        details = {"setting": setting, "provided": provided, "expected": expected}
        return cls(f"{setting} must be {expected}{given}.", details=details)


class PostgresError(SetupError, code="POSTGRES_ERROR"):
    """The embedded database cannot run"""


class SchemaMismatch(SetupError, code="SCHEMA_MISMATCH"):
    """The database and this version of Whence do not fit together"""


class StorageMismatch(SetupError, code="STORAGE_MISMATCH", status=503):
    """The storage of originals does not belong to this database"""
