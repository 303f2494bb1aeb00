"""Parameters in the path and the query: types for FastAPI's routes, and parsers for the hot chunk routes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import parse_qsl, urlencode
from uuid import UUID

from fastapi import Depends, Path, Query, Request
from pydantic_core import PydanticCustomError

from whence.api.reading import no_uuid, parameter_error
from whence.api.search import UNGROUNDED
from whence.api.values import Flag, Ident, SearchText, canonical_uuid, read_flag, snake, whole
from whence.errors import InvalidParameter
from whence.store.pool import part_of

T = TypeVar("T")

MAX_INTEGER = 2**63 - 1
MAX_LIMIT = 100

_LIMIT = whole(1, MAX_LIMIT, in_query=True)
_OFFSET = whole(0, MAX_INTEGER, in_query=True)
_CHUNK_FLAGS = {
    "include_source": "Add the job (source document) behind each chunk: `true`, `1`, `yes`, `false`, `0` or `no`.",
    "include_embedding": "Add the vector of each chunk in its project's current embedding space.",
    "include_embeddings": "The same as `include_embedding`.",
}

Limit = Annotated[int, Query(description="Maximum number of items."), _LIMIT]
Offset = Annotated[int, Query(description="Number of items to skip."), _OFFSET]
After = Annotated[
    Ident | None,
    Query(
        description="The id of the last item of the page before, instead of an `offset`: new items do not shift the page."
    ),
]


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The requested part of a list."""

    limit: Limit = 20
    offset: Offset = 0


@dataclass(frozen=True, slots=True)
class CursorRequest(PageRequest):
    """Like `PageRequest`, for lists in a stable order, which can also continue after an item."""

    after: After = None

    @property
    def fetched(self) -> int:
        """Number of items to read. With `after` it is one more than the page has, to see whether more items follow."""
        return self.limit + (self.after is not None)

    def part_of(self, items: Sequence[T]) -> list[T]:
        """One page of a list in memory whose items have ids."""
        ident = attrgetter("id")
        return part_of(items, ident, limit=self.fetched, offset=self.offset, after=self.after)


Paged = Annotated[PageRequest, Depends()]
TextPosition = Annotated[
    int, Query(description="A position in the text, in code points."), whole(0, 2**31 - 2, in_query=True)
]
PagedByCursor = Annotated[CursorRequest, Depends()]
PathId = Annotated[Ident, Path()]
ProjectFilter = Annotated[Ident | None, Query(description="Default: the key's project, or the default one.")]
DocumentFilter = Annotated[Ident | None, Query(description="Only items that this document mentions.")]
TypeFilter = Annotated[SearchText, Query(alias="type", description="Only of this type.")]
NameFilter = Annotated[SearchText, Query(description="Any part of the name, in any case.")]
UngroundedFlag = Annotated[Flag, Query(alias="includeUngrounded", description=UNGROUNDED)]
Direction = Annotated[Literal["asc", "desc"], Query(description="Ascending or descending.")]
WaitFlag = Annotated[
    Flag | None,
    Query(description="Answer when the job has ended. The body field of the same name does the same."),
]


def first_of(flag: bool | None, other: bool | None) -> bool:
    """The value of a flag that may be in the query or in the body."""
    return bool(other if flag is None else flag)


@dataclass(frozen=True, slots=True)
class ChunkFlags:
    """Optional parts of a chunk in the answer."""

    source: bool
    embedding: bool

    @classmethod
    def of(cls, request: Request) -> "ChunkFlags":
        """Parses the flags by hand for the hot routes, because FastAPI's parsing took half as long as the whole query."""
        return _parse_chunk_flags(request.scope["query_string"])


@lru_cache(maxsize=256)
def _parse_chunk_flags(query: bytes) -> ChunkFlags:
    given = _rename_to_snake(query)
    source, one, many = (_parse(name, given.get(name, "false"), read_flag) for name in _CHUNK_FLAGS)
    return ChunkFlags(source=source, embedding=one or many)


async def chunk_flags(
    include_source: Annotated[Flag, Query(description=_CHUNK_FLAGS["include_source"])] = False,
    include_embedding: Annotated[Flag, Query(description=_CHUNK_FLAGS["include_embedding"])] = False,
    include_embeddings: Annotated[Flag, Query(description=_CHUNK_FLAGS["include_embeddings"])] = False,
) -> ChunkFlags:
    """`ChunkFlags` for routes with typed parameters."""
    return ChunkFlags(source=include_source, embedding=include_embedding or include_embeddings)


@lru_cache(maxsize=256)
def _rename_to_snake(query: bytes) -> Mapping[str, str]:
    """The parameters by snake_case name. Cached: clients repeat few queries."""
    return MappingProxyType({snake(name): value for name, value in _parse_pairs(query)})


def _parse_pairs(query: bytes) -> list[tuple[str, str]]:
    return parse_qsl(query.decode("latin-1"), keep_blank_values=True)


def require_known(request: Request, known: tuple[str, ...], lists: tuple[str, ...] = ()) -> None:
    """Refuses unknown parameters and repeated ones that are not lists, because most are typing errors."""
    if query := request.scope["query_string"]:
        _require_known(query, known, lists)


@lru_cache(maxsize=256)
def _require_known(query: bytes, known: tuple[str, ...], lists: tuple[str, ...]) -> None:
    names = {snake(name) for name in known}
    sent: dict[str, str] = {}
    for name, value in _parse_pairs(query):
        key = snake(name)
        if key not in names:
            raise InvalidParameter.unknown(name, provided=value, known=known)
        if key in sent and key not in lists:
            expected, message = "one value", f"{name} was sent more than once"
            raise InvalidParameter.of(name, provided=[sent[key], value], expected=expected, message=message)
        sent[key] = value


def rename_as_declared(request: Request, known: tuple[str, ...]) -> None:
    """Renames camelCase or snake_case parameters to the names that the route declares; errors keep the sent names."""
    if query := request.scope["query_string"]:
        declared = {snake(name): name for name in known}
        pairs = [(declared.get(snake(name), name), name, value) for name, value in _parse_pairs(query)]
        request.scope["sent_names"] = {name: sent for name, sent, _ in pairs}
        if any(name != sent for name, sent, _ in pairs):
            request.scope["query_string"] = urlencode([(name, value) for name, _, value in pairs]).encode()


def sent_name(request: Request, declared: str) -> str:
    name: str = request.scope.get("sent_names", {}).get(declared, declared)
    return name


def path_id(request: Request, name: str) -> str:
    value = request.path_params[name]
    found = canonical_uuid(value)
    if found is None:
        raise no_uuid(name, value)
    return found


def page_of(request: Request) -> CursorRequest:
    given = _rename_to_snake(request.scope["query_string"])
    limit = _parse("limit", given.get("limit", "20"), _LIMIT.read)
    offset, after = _parse("offset", given.get("offset", "0"), _OFFSET.read), given.get("after")
    found = None if after is None else canonical_uuid(after)
    if after is not None and found is None:
        raise no_uuid("after", after)
    return CursorRequest(limit, offset, UUID(found) if found else None)


def _parse(name: str, value: str, read: Callable[[Any], T]) -> T:
    try:
        return read(value)
    except PydanticCustomError as exc:
        error = {"type": exc.type, "ctx": exc.context, "input": value, "loc": (name,), "msg": exc.message()}
        raise parameter_error(error, name) from exc
