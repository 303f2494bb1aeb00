"""Search, and the context of a chunk."""

from uuid import UUID

from fastapi import Request, Response

from whence.errors import (
    BadInput,
    ChunkNotFound,
    EmbeddingInvalid,
    EmbeddingRefused,
    EmbeddingUnavailable,
    InvalidParameter,
    InvalidUUID,
    PayloadTooLarge,
    ProjectNotFound,
)
from whence.web.access import reader
from whence.web.answer import paged, success
from whence.web.fields import Fields
from whence.web.inputs import declared_query, json_content, path_id, query_parameters
from whence.web.models import Success
from whence.web.routes import Direct, api_router, documented
from whence.web.search_models import ContextAnswer, SearchAnswer
from whence.web.searching import (
    EXPANSION_SCHEMA,
    SEARCH_SCHEMA,
    context_as_json,
    expansion_of_query,
    hit_as_json,
    question_of,
)

router = api_router("search", route_class=Direct)

_BODY = {
    "required": True,
    "content": {"application/json": {"schema": SEARCH_SCHEMA, "example": {"query": "Who paid for it?"}}},
}


@router.post(
    "/search",
    summary="The chunks that have to do with a question",
    response_model=Success[SearchAnswer],
    responses=documented(
        BadInput,
        InvalidParameter,
        InvalidUUID,
        ProjectNotFound,
        PayloadTooLarge,
        EmbeddingUnavailable,
        EmbeddingRefused,
        EmbeddingInvalid,
    ),
    openapi_extra={"requestBody": _BODY},
)
async def search(request: Request) -> Response:
    access = await reader(request)
    fields = Fields(await json_content(request))
    project_id = access.project(fields.value("projectId"))
    question = question_of(fields)
    found = await access.app.search.find(project_id, question)
    return success(
        {
            **paged(
                [hit_as_json(hit) for hit in found.hits],
                total=found.total,
                limit=question.limit,
                offset=question.offset,
            ),
            "query": question.query,
            "mode": question.mode,
            "notes": [*fields.unknown_to(*SEARCH_SCHEMA["properties"]), *found.notes],
        }
    )


@router.get(
    "/chunks/{chunk_id}/context",
    summary="What stands around a chunk",
    response_model=Success[ContextAnswer],
    responses=documented(InvalidParameter, InvalidUUID, ChunkNotFound),
    openapi_extra=declared_query("chunk_id", paged=False, **EXPANSION_SCHEMA),
)
async def chunk_context(request: Request) -> Response:
    access = await reader(request)
    chunk_id = path_id(request, "chunk_id")
    expansion = expansion_of_query(query_parameters(request))
    project_id, chunk = await access.store.hits.one(chunk_id, project_id=access.project_id)
    context = await access.app.search.context(project_id, UUID(chunk_id), expansion)
    return success({"chunk": chunk, **context_as_json(context)})
