"""Corrections by a person: set values, reject claims, undo either. Each has an author and a reason."""

from typing import Annotated

from fastapi import Depends, HTTPException, Query, Response

from whence.api.base import Listing
from whence.api.curations import (
    AUTHOR,
    REASON,
    AuthorText,
    CorrectedObject,
    CorrectionRequest,
    CurationModel,
    Reasoned,
    ReasonText,
)
from whence.api.values import text
from whence.errors import BadInput, ClaimNotFound, Conflict, MethodNotAllowed
from whence.extract.schema import MAX_NAME
from whence.models import Word
from whence.store.graph.curation import Curation
from whence.web.access import Access, Reader, Writer
from whence.web.parameters import PagedByCursor, PathId
from whence.web.responses import Enveloped, listed, success
from whence.web.routes import Tolerant, api_router, documented

router = api_router("corrections")

PropertyName = Annotated[str, Query(alias="property", description="The property."), text(MAX_NAME)]

ObjectName = Annotated[
    str | None,
    Query(description="Only corrections of objects with this name or alias, also rejected ones."),
    text(MAX_NAME),
]


def _read_reason(
    reason: Annotated[ReasonText | None, Query(description=REASON)] = None,
    author: Annotated[AuthorText | None, Query(description=AUTHOR)] = None,
    body: Reasoned | None = None,
) -> Reasoned:
    """Reason and author from the query or the body of a DELETE."""
    said = body or Reasoned()
    return Reasoned(reason=reason or said.reason, author=author or said.author)


Why = Annotated[Reasoned, Depends(_read_reason)]


def _make_word(access: Access, why: Reasoned) -> Word:
    return Word(author=access.caller.name or why.author or "local", reason=why.reason)


async def not_merge() -> Response:
    """Without these routes the words would be taken for an object's id."""
    raise HTTPException(MethodNotAllowed.status)


for _path in ("/objects/merge", "/objects/merges"):
    _methods = ["PATCH", "DELETE"]
    router.add_api_route(
        _path, not_merge, methods=_methods, include_in_schema=False, route_class_override=Tolerant
    )


@router.patch("/objects/{object_id}")
async def correct_object(
    access: Writer, object_id: PathId, body: CorrectionRequest
) -> Enveloped[CorrectedObject]:
    """Set properties of an object.

    The values take precedence over extracted ones, also later ones, until they are undone. They must fit the schema.
    """
    found = await access.graph_object(object_id)
    if not body.set:
        details = {"field": "set", "provided": {}, "expected": "at least one property"}
        raise BadInput("set must have at least one property", details=details)
    made = await access.app.curator.set(found, body.set, _make_word(access, body))
    return success(await CorrectedObject.corrected(access.store, made, found.id))


@router.delete("/objects/{object_id}")
async def reject_object(access: Writer, object_id: PathId, why: Why) -> Enveloped[CurationModel]:
    """Reject an object: all claims about it and about its relationships.

    Extracting the same texts again does not restore them. Other texts can name the object again.
    """
    found = await access.graph_object(object_id)
    rejected = access.store.graph.curations.reject_object(found.project_id, found.id, _make_word(access, why))
    return _build_answer(await access.app.curator.done(found.project_id, rejected))


@router.delete("/objects/{object_id}/claims", responses=documented(ClaimNotFound))
async def reject_property(
    access: Writer, object_id: PathId, property_name: PropertyName, why: Why
) -> Enveloped[CurationModel]:
    """Reject a property of an object: all claims about it with any value, and a value that a person set."""
    found = await access.graph_object(object_id)
    rejected = access.store.graph.curations.reject_property(
        found.project_id, found.id, property_name, _make_word(access, why)
    )
    return _build_answer(await access.app.curator.done(found.project_id, rejected))


@router.delete("/objects/{object_id}/claims/{claim_id}")
async def reject_claim(
    access: Writer, object_id: PathId, claim_id: PathId, why: Why
) -> Enveloped[CurationModel]:
    """Reject one claim about an object: the next one becomes current.

    With a claim of the name, all claims of its chunk about the object are rejected. A value that a person set is undone.
    """
    found = await access.graph_object(object_id)
    rejected = access.store.graph.curations.reject_claim(
        found.project_id, found.id, claim_id, _make_word(access, why)
    )
    return _build_answer(await access.app.curator.done(found.project_id, rejected))


@router.delete("/relationships/{relationship_id}")
async def reject_relationship(access: Writer, relationship_id: PathId, why: Why) -> Enveloped[CurationModel]:
    """Reject a relationship: all claims of it."""
    found = await access.store.graph.relationships.get(relationship_id, project_id=access.project_id)
    rejected = access.store.graph.curations.reject_relationship(
        found.project_id, found.id, _make_word(access, why)
    )
    return _build_answer(await access.app.curator.done(found.project_id, rejected))


@router.get("/objects/{object_id}/curations")
async def list_object_curations(
    access: Reader, object_id: PathId, page: PagedByCursor
) -> Enveloped[Listing[CurationModel]]:
    """List the corrections of an object and its relationships, newest first; also of a rejected object."""
    project_id, ident = await access.corrected_object(object_id)
    entries, total = await access.store.graph.curations.page(
        project_id, object_id=ident, limit=page.fetched, offset=page.offset, after=page.after
    )
    return listed(CurationModel, entries, total, page)


@router.get("/projects/{project_id}/curations")
async def list_curations(
    access: Reader, project_id: PathId, page: PagedByCursor, name: ObjectName = None
) -> Enveloped[Listing[CurationModel]]:
    """List all corrections of a project, newest first, also those that are undone or wait for their object."""
    await access.existing_project(project_id)
    entries, total = await access.store.graph.curations.page(
        project_id, name=name, limit=page.fetched, offset=page.offset, after=page.after
    )
    return listed(CurationModel, entries, total, page)


@router.post("/curations/{curation_id}/undo", responses=documented(Conflict))
async def undo_curation(
    access: Writer, curation_id: PathId, body: Reasoned | None = None
) -> Enveloped[CurationModel]:
    """Undo a correction.

    The undo is an entry of its own. Undoing the undo makes the correction effective again.

    409 `CONFLICT` if it is already undone.
    """
    curations = access.store.graph.curations
    entry = await curations.get(curation_id, project_id=access.project_id)
    undone = curations.undo(entry.project_id, entry.id, _make_word(access, body or Reasoned()))
    return _build_answer(await access.app.curator.done(entry.project_id, undone))


def _build_answer(curation: Curation) -> Enveloped[CurationModel]:
    return success(CurationModel.of(curation))
