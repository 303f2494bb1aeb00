"""Every error that Whence raises on purpose. Each class has a code and an HTTP status.

    WhenceError                          500 INTERNAL_ERROR
    ├── BadInput                         400 INVALID_REQUEST
    │   ├── InvalidParameter             400 INVALID_PARAMETER
    │   ├── InvalidSchema                400 INVALID_SCHEMA
    │   ├── InvalidUUID                  400 INVALID_UUID
    │   ├── URLRefused                   400 URL_REFUSED
    │   ├── PayloadTooLarge              413 PAYLOAD_TOO_LARGE
    │   └── UnreadableDocument           400 UNREADABLE_DOCUMENT
    ├── Unauthorized                     401 UNAUTHORIZED
    ├── Forbidden                        403 FORBIDDEN
    ├── NotFound                         404 NOT_FOUND
    │   ├── ProjectNotFound              404 PROJECT_NOT_FOUND
    │   ├── DocumentNotFound             404 DOCUMENT_NOT_FOUND
    │   ├── JobNotFound                  404 JOB_NOT_FOUND
    │   ├── ChunkNotFound                404 CHUNK_NOT_FOUND
    │   ├── SchemaNotFound               404 SCHEMA_NOT_FOUND
    │   ├── ObjectNotFound               404 OBJECT_NOT_FOUND
    │   ├── RelationshipNotFound         404 RELATIONSHIP_NOT_FOUND
    │   └── MergeNotFound                404 MERGE_NOT_FOUND
    ├── MethodNotAllowed                 405 METHOD_NOT_ALLOWED
    ├── Conflict                         409 CONFLICT
    ├── StrategyError                    500 STRATEGY_ERROR (an installed chunking strategy is faulty)
    ├── FetchFailed                      502 FETCH_FAILED
    │   └── FetchTimeout                 504 FETCH_TIMEOUT
    ├── DatabaseUnavailable              503 DATABASE_UNAVAILABLE
    │   └── DatabaseBusy                 503 DATABASE_BUSY (another operation holds a lock)
    ├── StorageUnavailable               503 STORAGE_UNAVAILABLE
    ├── EmbeddingError                   502 EMBEDDING_ERROR
    │   ├── EmbeddingUnavailable         503 EMBEDDING_UNAVAILABLE (a retry may succeed)
    │   ├── EmbeddingRefused             502 EMBEDDING_REFUSED (the endpoint refuses the request)
    │   └── EmbeddingInvalid             502 EMBEDDING_INVALID (its answer has no usable vectors)
    ├── UnreadableReply                  502 UNREADABLE_REPLY (an extraction model did not answer in JSON)
    ├── ExtractionFailed                 502 EXTRACTION_FAILED (no chunk of a document could be read)
    ├── ModelError                       502 MODEL_ERROR
    │   ├── ModelUnavailable             502 MODEL_UNAVAILABLE (a retry may succeed)
    │   │   └── ModelTimeout             504 MODEL_TIMEOUT
    │   ├── ModelRefused                 502 MODEL_REFUSED (the endpoint or the model refuses the request)
    │   └── ModelInvalid                 502 MODEL_INVALID (its answer cannot be read)
    └── SetupError                       500 SETUP_ERROR (the command line prints it and exits 3)
        ├── SettingsError                500 SETTINGS_ERROR
        ├── PostgresError                500 POSTGRES_ERROR (the embedded database cannot run)
        ├── SchemaMismatch               500 SCHEMA_MISMATCH (database and code do not match)
        └── StorageMismatch              503 STORAGE_MISMATCH (the storage belongs to another database)

Clients see only `code`, the message and `details`. Foreign exceptions are translated where they arise, with
`raise … from exc`; their text stays in the log.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal


class WhenceError(Exception):
    """Internal server error"""

    code: ClassVar[str] = "INTERNAL_ERROR"
    status: ClassVar[int] = 500
    permanent: ClassVar[bool] = False
    """Whether a retry would fail again: a job that raises it is not retried."""

    def __init__(self, message: str | None = None, *, details: Mapping[str, Any] | None = None) -> None:
        self.message = message or (type(self).__doc__ or "").strip()
        self.details = dict(details or {})
        super().__init__(self.message)


class BadInput(WhenceError):
    """The request is not valid"""

    code = "INVALID_REQUEST"
    status = 400
    permanent = True


class InvalidParameter(BadInput):
    """A parameter has a value that is not allowed"""

    code = "INVALID_PARAMETER"

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


class InvalidSchema(BadInput):
    """The extraction schema is not valid"""

    code = "INVALID_SCHEMA"

    @classmethod
    def at(cls, path: str, *, provided: Any, expected: str) -> "InvalidSchema":
        details = {"path": path, "provided": provided, "expected": expected}
        return cls(f"{path} must be {expected}", details=details)


class InvalidUUID(BadInput):
    """Invalid UUID format"""

    code = "INVALID_UUID"


class URLRefused(BadInput):
    """This URL is not fetched"""

    code = "URL_REFUSED"


class PayloadTooLarge(BadInput):
    """Request payload too large"""

    code = "PAYLOAD_TOO_LARGE"
    status = 413


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


class UnreadableDocument(BadInput):
    """The document cannot be read"""

    code = "UNREADABLE_DOCUMENT"

    @classmethod
    def because(cls, reason: UnreadableReason, message: str, *, file_name: str) -> "UnreadableDocument":
        return cls(message, details={"reason": reason, "file_name": file_name})


class Unauthorized(WhenceError):
    """A valid API key is required"""

    code = "UNAUTHORIZED"
    status = 401


class Forbidden(WhenceError):
    """This API key does not allow that"""

    code = "FORBIDDEN"
    status = 403


class NotFound(WhenceError):
    """Not found"""

    code = "NOT_FOUND"
    status = 404
    permanent = True


class ProjectNotFound(NotFound):
    """Project not found"""

    code = "PROJECT_NOT_FOUND"


class DocumentNotFound(NotFound):
    """Document not found"""

    code = "DOCUMENT_NOT_FOUND"


class JobNotFound(NotFound):
    """Job not found"""

    code = "JOB_NOT_FOUND"


class ChunkNotFound(NotFound):
    """Chunk not found"""

    code = "CHUNK_NOT_FOUND"


class SchemaNotFound(NotFound):
    """Schema not found"""

    code = "SCHEMA_NOT_FOUND"


class ObjectNotFound(NotFound):
    """Object not found"""

    code = "OBJECT_NOT_FOUND"


class RelationshipNotFound(NotFound):
    """Relationship not found"""

    code = "RELATIONSHIP_NOT_FOUND"


class MergeNotFound(NotFound):
    """Merge not found"""

    code = "MERGE_NOT_FOUND"


class MethodNotAllowed(WhenceError):
    """This route does not answer that method"""

    code = "METHOD_NOT_ALLOWED"
    status = 405


class Conflict(WhenceError):
    """That conflicts with what is stored"""

    code = "CONFLICT"
    status = 409
    permanent = True


class StrategyError(WhenceError):
    """The chunking strategy does not work"""

    code = "STRATEGY_ERROR"
    permanent = True


class FetchFailed(WhenceError):
    """The URL could not be fetched"""

    code = "FETCH_FAILED"
    status = 502


class FetchTimeout(FetchFailed):
    """Fetching the URL took too long"""

    code = "FETCH_TIMEOUT"
    status = 504


class DatabaseUnavailable(WhenceError):
    """The database does not answer"""

    code = "DATABASE_UNAVAILABLE"
    status = 503


class DatabaseBusy(DatabaseUnavailable):
    """Another operation is changing the same data and has not finished; try again"""

    code = "DATABASE_BUSY"


class StorageUnavailable(WhenceError):
    """The storage of originals does not answer"""

    code = "STORAGE_UNAVAILABLE"
    status = 503


class EmbeddingError(WhenceError):
    """Texts cannot be embedded"""

    code = "EMBEDDING_ERROR"
    status = 502


class EmbeddingUnavailable(EmbeddingError):
    """The embedding model does not answer"""

    code = "EMBEDDING_UNAVAILABLE"
    status = 503


class EmbeddingRefused(EmbeddingError):
    """The embedding endpoint refused the request"""

    code = "EMBEDDING_REFUSED"
    permanent = True


class EmbeddingInvalid(EmbeddingError):
    """The embedding endpoint gave no usable vectors"""

    code = "EMBEDDING_INVALID"
    permanent = True


class UnreadableReply(WhenceError):
    """The extraction model's reply cannot be read"""

    code = "UNREADABLE_REPLY"
    status = 502


class ExtractionFailed(WhenceError):
    """None of the chunks could be read"""

    code = "EXTRACTION_FAILED"
    status = 502
    permanent = True


class ModelError(WhenceError):
    """The chat model gave no answer"""

    code = "MODEL_ERROR"
    status = 502


class ModelUnavailable(ModelError):
    """The chat model does not answer"""

    code = "MODEL_UNAVAILABLE"


class ModelTimeout(ModelUnavailable):
    """The chat model took too long"""

    code = "MODEL_TIMEOUT"
    status = 504


class ModelRefused(ModelError):
    """The chat model refused the request"""

    code = "MODEL_REFUSED"
    permanent = True


class ModelInvalid(ModelError):
    """The chat model's answer cannot be read"""

    code = "MODEL_INVALID"
    permanent = True


class SetupError(WhenceError):
    """Whence cannot start"""

    code = "SETUP_ERROR"
    permanent = True


class SettingsError(SetupError):
    """A setting has a value that is not allowed"""

    code = "SETTINGS_ERROR"


class PostgresError(SetupError):
    """The embedded database cannot run"""

    code = "POSTGRES_ERROR"


class SchemaMismatch(SetupError):
    """The database and this version of Whence do not fit together"""

    code = "SCHEMA_MISMATCH"


class StorageMismatch(SetupError):
    """The storage of originals does not belong to this database"""

    code = "STORAGE_MISMATCH"
    status = 503
