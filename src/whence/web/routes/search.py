"""Search, and the context of a chunk."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query

from whence import errors
from whence.api.search import (
    MOST_ALIKE,
    MOST_BESIDE,
    MOST_OBJECTS,
    POSITIONAL,
    RELATED,
    SEMANTIC,
    SIMILARITY,
    ContextAnswer,
    SearchAnswer,
    SearchRequest,
)
from whence.api.values import number, whole
from whence.search import Expansion
from whence.web.access import Reader
from whence.web.parameters import PathId, UngroundedFlag
from whence.web.responses import Enveloped, success
from whence.web.routes import api_router, documented

router = api_router("search")

_DEFAULTS = Expansion()


@dataclass(frozen=True, slots=True, kw_only=True)
class _ContextQuery(Expansion):
    positional_count: Annotated[
        int, Query(alias="positionalCount", description=POSITIONAL), whole(0, MOST_BESIDE, in_query=True)
    ] = _DEFAULTS.positional_count
    semantic_chunk_count: Annotated[
        int, Query(alias="semanticChunkCount", description=SEMANTIC), whole(0, MOST_ALIKE, in_query=True)
    ] = _DEFAULTS.semantic_chunk_count
    related_object_count: Annotated[
        int, Query(alias="relatedObjectCount", description=RELATED), whole(0, MOST_OBJECTS, in_query=True)
    ] = _DEFAULTS.related_object_count
    object_similarity_threshold: Annotated[
        float, Query(alias="objectSimilarityThreshold", description=SIMILARITY), number(0, 1, in_query=True)
    ] = _DEFAULTS.object_similarity_threshold
    include_ungrounded: UngroundedFlag = False


_ERRORS = (
    errors.InvalidUUID,
    errors.ProjectNotFound,
    errors.EmbeddingUnavailable,
    errors.EmbeddingRefused,
    errors.EmbeddingInvalid,
)


@router.post("/search", responses=documented(*_ERRORS))
async def search(access: Reader, body: SearchRequest) -> Enveloped[SearchAnswer]:
    """Search for the chunks that answer a question.

    The best hits come first. Words in quotes must occur as they are. [Search](search.md) describes the ranking.

    An empty list of `documentIds` finds nothing; an empty list of `fileTypes` is no filter. Offsets count code points.
    `pagination.total` counts the ranked chunks and may grow from page to page. If the embedder fails, `vector` mode answers 502
    or 503; `hybrid` mode searches by words alone and says so in `notes`.
    """
    question = body.question()
    project_id = await access.named_project(body.project_id, body.project)
    found = await access.app.search.find(project_id, question)
    return success(SearchAnswer.for_question(question, found))


@router.get("/chunks/{chunk_id}/context")
async def get_chunk_context(
    access: Reader, chunk_id: PathId, expansion: Annotated[_ContextQuery, Depends()]
) -> Enveloped[ContextAnswer]:
    """Get the context of a chunk: its neighbours, similar chunks, related objects.

    `relatedObjects` has the objects that the chunk names, then objects above the similarity threshold.
    """
    project_id, chunk = await access.store.hits.one(str(chunk_id), project_id=access.project_id)
    context = await access.app.search.context(project_id, chunk_id, expansion)
    return success(ContextAnswer.of(context, chunk=chunk))
