"""Objects: the nodes of the graph with the claims of each property, and merges of two objects."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import HTTPException, Query, Response

from whence.api.base import Listing
from whence.api.graph import MergeModel, MergeRequest, ObjectAnswer, ObjectModel, SuggestionModel
from whence.api.values import UUID_SCHEMA, Flag, Ident, Value, all_canonical, json_object, moment, wrong
from whence.errors import Conflict, InvalidParameter, InvalidUUID, MethodNotAllowed, ObjectNotFound
from whence.store.graph.objects import ObjectOrder
from whence.web.access import Reader, Writer
from whence.web.parameters import (
    Direction,
    DocumentFilter,
    NameFilter,
    PagedByCursor,
    PathId,
    ProjectFilter,
    TypeFilter,
)
from whence.web.responses import Enveloped, listed, success
from whence.web.routes import api_router, documented

router = api_router("objects")

MAX_NESTED = 20
MAX_IDS = 100


_JSON_TEXT = {"type": "string", "contentMediaType": "application/json", "examples": ['{"priority": "high"}']}


def _read_properties(value: str) -> dict[str, Any] | None:
    found: dict[str, Any] = json_object(max_depth=MAX_NESTED, as_text=True).read(value or "{}")
    return found or None


Properties = Annotated[
    Any,
    Query(description="A JSON object: only objects that have these properties with these values."),
    Value(_read_properties, _JSON_TEXT),
]


def _read_ids(value: list[str]) -> list[UUID]:
    sent = [one.strip() for part in value for one in part.split(",")]
    if len(sent) > MAX_IDS:
        raise wrong(f"at most {MAX_IDS} ids", "too_long", provided=len(sent))
    if (found := all_canonical(sent)) is None:
        raise wrong("UUIDs, separated by commas", "uuid")
    return [UUID(one) for one in found]


_IDS = {"type": "array", "items": UUID_SCHEMA, "minItems": 1, "maxItems": MAX_IDS}
Ids = Annotated[
    list[Any] | None,
    Query(description=f"Only these ids, at most {MAX_IDS}: repeated, or separated by commas."),
    Value(_read_ids, _IDS),
]
UpdatedSince = Annotated[
    datetime | None,
    Query(alias="updatedSince", description="Only objects that changed at this time or later."),
    moment(),
]
Sort = Annotated[ObjectOrder, Query(description="Field to sort by; `claims` is the number of claims.")]
OfObject = Annotated[Ident | None, Query(alias="object", description="Only suggestions with this object.")]
MergedInto = Annotated[Ident | None, Query(description="Only merges into this object.")]

Dismissed = Annotated[Flag, Query(description="Only dismissed suggestions.")]


@router.get("/objects")
async def list_objects(
    access: Reader,
    *,
    project_id: ProjectFilter = None,
    object_type: TypeFilter = None,
    name: NameFilter = None,
    properties: Properties = None,
    document_id: DocumentFilter = None,
    ids: Ids = None,
    updated_since: UpdatedSince = None,
    sort: Sort = "created",
    direction: Direction = "asc",
    page: PagedByCursor,
) -> Enveloped[Listing[ObjectModel]]:
    """List the objects of a project, by default oldest first.

    A key for all projects may leave out the project if it sends a `document_id`.

    `after` continues the list after an object. It needs the order of creation.

    The id of an object that was merged into another leads to that other.
    """
    if page.after is not None and sort != "created":
        raise InvalidParameter.of(
            "after", provided=str(page.after), expected="absent when `sort` or `direction` is given"
        )
    project = await access.existing_project(project_id, document_id=document_id)
    found, total = await access.store.graph.objects.page(
        project,
        limit=page.fetched,
        offset=page.offset,
        after=page.after,
        object_type=object_type,
        name=name,
        properties=properties,
        document_id=document_id,
        ids=ids,
        updated_since=updated_since,
        sort=sort,
        descending=direction == "desc",
    )
    return listed(ObjectModel, found, total, page)


@router.get("/objects/merges")
async def list_merges(
    access: Reader, page: PagedByCursor, project_id: ProjectFilter = None, object_id: MergedInto = None
) -> Enveloped[Listing[MergeModel]]:
    """List the merges that are not undone, newest first."""
    project = await access.existing_project(project_id)
    found, total = await access.store.graph.merges.page(
        project, object_id=object_id, limit=page.fetched, offset=page.offset, after=page.after
    )
    return listed(MergeModel, found, total, page)


@router.get("/objects/merge", include_in_schema=False)
async def not_merge() -> Response:
    """Without this route `merge` would be taken for an object's id."""
    raise HTTPException(MethodNotAllowed.status)


@router.post("/objects/merge", responses=documented(InvalidUUID, ObjectNotFound, Conflict))
async def merge_objects(access: Writer, body: MergeRequest) -> Enveloped[MergeModel]:
    """Merge two objects: the kept one has the claims of both.

    Both must be of the same project and the same type. Later claims about the dropped object go to the kept one, too.

    409 `CONFLICT` when the two are already merged or of different types.
    """
    kept = await access.store.graph.objects.get(body.keep_id, project_id=access.project_id)
    dropped = await access.store.graph.objects.get(body.drop_id, project_id=kept.project_id)
    if body.keep_id != body.drop_id and kept.id == dropped.id:
        raise Conflict("The two are already one object", details={"object_id": str(kept.id)})
    merge = await access.store.graph.merges.merge(kept.project_id, keep_id=kept.id, drop_id=dropped.id)
    return success(MergeModel.of(merge))


@router.post("/objects/merges/{merge_id}/undo", responses=documented(Conflict))
async def undo_merge(access: Writer, merge_id: PathId) -> Enveloped[MergeModel]:
    """Undo a merge: each object has its own claims again."""
    merge = await access.store.graph.merges.get(merge_id, project_id=access.project_id)
    undone = access.store.graph.merges.undo(merge.project_id, merge.id)
    return success(MergeModel.of(await access.app.curator.done(merge.project_id, undone)))


@router.get("/projects/{project_id}/merge-suggestions")
async def list_suggestions(
    access: Reader,
    project_id: PathId,
    page: PagedByCursor,
    object_type: TypeFilter = None,
    object_id: OfObject = None,
    *,
    dismissed: Dismissed = False,
) -> Enveloped[Listing[SuggestionModel]]:
    """List pairs of objects of one type that may be the same, best first, without dismissed ones."""
    await access.existing_project(project_id)
    found, total = await access.store.graph.suggestions.page(
        project_id,
        object_type=object_type,
        object_id=object_id,
        dismissed=dismissed,
        limit=page.fetched,
        offset=page.offset,
        after=page.after,
    )
    return listed(SuggestionModel, found, total, page)


@router.post(
    "/projects/{project_id}/merge-suggestions/{suggestion_id}/accept", responses=documented(Conflict)
)
async def accept_suggestion(
    access: Writer, project_id: PathId, suggestion_id: PathId
) -> Enveloped[MergeModel]:
    """Merge the two objects of a suggestion. The merge can be undone like any other."""
    await access.existing_project(project_id)
    graph = access.store.graph
    found = await graph.suggestions.get(project_id, suggestion_id)
    merge = await graph.merges.merge(project_id, keep_id=found.keep.id, drop_id=found.drop.id)
    return success(MergeModel.of(merge))


@router.post("/projects/{project_id}/merge-suggestions/{suggestion_id}/dismiss")
async def dismiss_suggestion(
    access: Writer, project_id: PathId, suggestion_id: PathId
) -> Enveloped[SuggestionModel]:
    """Dismiss a suggestion: the two names are not suggested again, even if their objects are extracted anew."""
    await access.existing_project(project_id)
    found = await access.store.graph.suggestions.get(project_id, suggestion_id)
    await access.store.graph.suggestions.dismiss(project_id, found)
    return success(SuggestionModel.of(found))


@router.post("/projects/{project_id}/merge-suggestions/{suggestion_id}/undo", responses=documented(Conflict))
async def restore_suggestion(
    access: Writer, project_id: PathId, suggestion_id: PathId
) -> Enveloped[SuggestionModel]:
    """Undo the dismissal of a suggestion.

    409 `CONFLICT` if it is not dismissed.
    """
    await access.existing_project(project_id)
    found = await access.store.graph.suggestions.get(project_id, suggestion_id)
    await access.store.graph.suggestions.restore(project_id, found)
    return success(SuggestionModel.of(found))


@router.get("/objects/{object_id}")
async def get_object(access: Reader, object_id: PathId) -> Enveloped[ObjectAnswer]:
    """Get an object, and for each of its properties the claims.

    `sources` has all current claims, and other claims if they are among the newest 200.

    The id of an object that was merged into another leads to that other.
    """
    return success(await ObjectAnswer.load(access.store, await access.graph_object(object_id)))
