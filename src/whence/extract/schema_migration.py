"""Adapts the graph to a newer schema without a model, if elements were only removed or renamed.

Versions are applied in order, each to the claims of older versions. A renamed claim counts as extracted under the version that
renamed it. Applying a version twice, or resuming after a crash, gives the same result.
"""

from collections.abc import Mapping
from contextlib import suppress
from itertools import pairwise
from uuid import UUID

from whence.chunk_findings import ChunkExtraction
from whence.errors import ChunkNotFound
from whence.extract.default_schema import DEFAULT_SCHEMA
from whence.extract.schema import Schema
from whence.extract.schema_diff import Diff, diff, needs_model
from whence.extract.schema_reading import read_schema
from whence.job_run import Run, Stale
from whence.models import now
from whence.store import Store
from whence.store.graph.ledger import StaleChunk
from whence.store.graph.schema_moves import Move, PropertyMove, RelationshipMove, TypeMove

_ALL = 10**9
"""A number of chunks that no document reaches."""


async def versions_between(store: Store, project_id: UUID, first: int, last: int) -> dict[int, Schema]:
    """Both versions and all in between, the oldest first."""
    versions = await store.schemas.between(project_id, first, last)
    return {version.number: read_schema(version.body) for version in versions}


async def changes_between(store: Store, project_id: UUID, old: int, new: int) -> Diff:
    """The changes from `old` to `new`. `old` may be the newer version."""
    versions = await versions_between(store, project_id, min(old, new), max(old, new))
    return diff(*(versions[number] for number in sorted(versions, reverse=new < old)))


async def changes_since(
    store: Store, project_id: UUID, old: int | None, current: int | None, draft: Schema
) -> Diff:
    """The changes from version `old` over the `current` one to a draft; without a version, from the default schema."""
    if old is None:
        return diff(read_schema(DEFAULT_SCHEMA.body), draft)
    versions = await versions_between(store, project_id, old, current or old)
    return diff(*versions.values(), draft)


async def carry_over(run: Run, number: int) -> None:
    """Applies to the whole project every version since the oldest under which a chunk of the document was read."""
    job = run.job
    oldest = await run.store.graph.ledger.oldest(job.project_id, job.document_id)
    if oldest is None or oldest >= number:
        return
    versions = await versions_between(run.store, job.project_id, oldest, number)
    for older, newer in pairwise(versions):
        for move in plan_moves(versions, older, newer):
            await run.store.graph.schema_moves.apply(job.project_id, move, schema_number=newer)


async def count_as_read(run: Run, number: int) -> None:
    """Marks stale chunks of the document as read under this version if they need no model."""
    job = run.job
    stale, _ = await run.store.graph.ledger.stale(
        job.project_id, number, document_id=job.document_id, limit=_ALL, offset=0
    )
    read = [chunk for chunk in stale if chunk["schema_number"] is not None and chunk["outcome"] != "failed"]
    if not read:
        return
    used = {chunk["schema_number"] for chunk in read}
    versions = await versions_between(run.store, job.project_id, min(used), number)
    since = {older: diff(*(versions[each] for each in versions if each >= older)) for older in used}
    for chunk in read:
        if not needs_model(since[chunk["schema_number"]]):
            with suppress(ChunkNotFound):  # deleted meanwhile
                await _count_as_read(run, chunk, number)


def plan_moves(versions: Mapping[int, Schema], older: int, newer: int) -> list[Move]:
    """The changes to the graph from one version to the next. Properties come first, while types have their old names."""
    change = diff(versions[older], versions[newer])
    old_names = {(each.kind, each.name): each.was for each in change.renamed if each.was}
    gone = (*change.renamed, *change.removed)
    properties: list[Move] = [
        PropertyMove(
            type=old_names.get(("object_type", each.type), each.type),
            name=each.was or each.name,
            new_name=each.name if each.was else None,
        )
        for each in gone
        if each.kind == "property" and each.type
    ]
    # One move per relationship type, also if both the type and its properties change.
    fields = [each for each in gone if each.kind == "relationship_property" and each.type]
    renamed = {each.name for each in change.renamed if each.kind == "relationship_type"}
    relationships: list[Move] = [
        RelationshipMove(
            type=old_names.get(("relationship_type", name), name),
            new_type=name,
            renamed={each.was: each.name for each in fields if each.type == name and each.was},
            removed=[each.name for each in fields if each.type == name and not each.was],
        )
        for name in sorted(renamed | {each.type for each in fields if each.type})
    ]
    removed: list[Move] = [
        TypeMove(type=each.name) if each.kind == "object_type" else RelationshipMove(type=each.name)
        for each in change.removed
        if each.kind in {"object_type", "relationship_type"}
    ]
    later = [number for number in versions if number > newer]
    types: list[Move] = [
        TypeMove(
            type=each.was,
            new_type=each.name,
            again=next((number for number in later if each.was in versions[number].object_types), None),
        )
        for each in change.renamed
        if each.kind == "object_type" and each.was
    ]
    return [*properties, *relationships, *removed, *types]


async def _count_as_read(run: Run, chunk: StaleChunk, number: int) -> None:
    """Counts the chunk's claims as extracted under the newer schema, which adds nothing to look for."""
    reason = f"As read under {chunk['schema_version']}: what it gave was only removed or renamed since"
    read = ChunkExtraction(
        project_id=run.job.project_id,
        chunk_id=chunk["chunk_id"],
        job_id=run.job.id,
        schema_number=number,
        outcome=chunk["outcome"],
        reason=reason,
        extracted_at=now(),
    )
    async with run.store.transaction() as tx:
        if not await tx.jobs.note(run.job, run.run_id, schema_number=number, noted={}):
            raise Stale
        await tx.graph.schema_moves.count_as_read(read, since=chunk["schema_number"])
