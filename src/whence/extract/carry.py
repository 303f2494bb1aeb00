"""What a newer schema changes without anybody reading a chunk again: what is only gone or renamed.

The changes are made version by version, each to the claims of older ones. Whatever was renamed stands under the version that
named it so, and is older still for those that follow: done twice, or gone on with after a kill, it comes to the same.
"""

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from itertools import pairwise
from uuid import UUID

from whence.errors import ChunkNotFound
from whence.extract.changes import versions_between
from whence.extract.schema import Schema
from whence.extract.schema_diff import Diff, Element, diff, needs_model
from whence.runs import Run, Stale
from whence.store import Store
from whence.store.graph.ledger import StaleChunk
from whence.types import Extraction, Outcome, now

_PAGE = 1000


async def carry_over(run: Run, number: int) -> None:
    """Put right what the document's chunks gave under older schemas, and what others gave under these."""
    job = run.job
    oldest = await run.store.graph.ledger.oldest(job.project_id, job.document_id)
    if oldest is None or oldest >= number:
        return
    versions = await versions_between(run.store, job.project_id, oldest, number)
    for older, newer in pairwise(versions):
        await _apply(run.store, job.project_id, versions, older, newer)


async def count_as_read(run: Run, number: int) -> None:
    """The stale chunks of the document for which that was enough."""
    job = run.job
    by_version = await _stale_by_version(run.store, job.project_id, job.document_id, number)
    if not by_version:
        return
    versions = await versions_between(run.store, job.project_id, min(by_version), number)
    for older in sorted(by_version):
        if not needs_model(_since(older, versions)):
            for chunk in by_version[older]:
                with suppress(ChunkNotFound):  # deleted meanwhile
                    await _count_as_read(run, chunk, older, number)


def _since(older: int, versions: dict[int, Schema]) -> Diff:
    return diff(*(schema for number, schema in versions.items() if number >= older))


async def _apply(store: Store, project_id: UUID, versions: dict[int, Schema], older: int, newer: int) -> None:
    """Properties first, while their types have the names that they go by; then the types."""
    change = diff(versions[older], versions[newer])
    was = {(each.kind, each.name): each.was for each in change.renamed if each.was}
    for each in change.renamed:
        if each.kind == "property" and each.type and each.was:
            kind = was.get(("object_type", each.type), each.type)
            await store.graph.carrying.rename_property(
                project_id, kind, each.was, each.name, schema_number=newer
            )
    for each in change.removed:
        if each.kind == "property" and each.type:
            kind = was.get(("object_type", each.type), each.type)
            await store.graph.carrying.forget_property(project_id, kind, each.name, schema_number=newer)
    for name in _reworded(change):
        await store.graph.relabelling.reword(
            project_id,
            was.get(("relationship_type", name), name),
            renamed={each.was: each.name for each in _properties(change.renamed, name) if each.was},
            removed=[each.name for each in _properties(change.removed, name)],
            schema_number=newer,
        )
    await _apply_to_types(store, project_id, change, versions, newer)


async def _apply_to_types(
    store: Store, project_id: UUID, change: Diff, versions: dict[int, Schema], newer: int
) -> None:
    for each in change.removed:
        if each.kind == "object_type":
            await store.graph.retyping.forget_objects(project_id, each.name, schema_number=newer)
        elif each.kind == "relationship_type":
            await store.graph.relabelling.forget(project_id, each.name, schema_number=newer)
    for each in change.renamed:
        if each.kind == "object_type" and each.was:
            again = [
                number
                for number, schema in versions.items()
                if number > newer and each.was in schema.object_types
            ]
            await store.graph.retyping.rename_objects(
                project_id, each.was, each.name, schema_number=newer, again=min(again, default=None)
            )
        elif each.kind == "relationship_type" and each.was:
            await store.graph.relabelling.rename(project_id, each.was, each.name, schema_number=newer)


def _reworded(change: Diff) -> list[str]:
    """The types of relationships that have properties that were renamed or removed."""
    concerned = (*change.renamed, *change.removed)
    return sorted({each.type for each in concerned if each.kind == "relationship_property" and each.type})


def _properties(elements: Iterable[Element], type_name: str) -> list[Element]:
    return [each for each in elements if each.kind == "relationship_property" and each.type == type_name]


async def _stale_by_version(
    store: Store, project_id: UUID, document_id: UUID, number: int
) -> dict[int, list[StaleChunk]]:
    found: defaultdict[int, list[StaleChunk]] = defaultdict(list)
    offset, total = 0, 1
    while offset < total:
        some, total = await store.graph.ledger.stale(
            project_id, number, document_id=document_id, limit=_PAGE, offset=offset
        )
        offset += _PAGE
        for chunk in some:
            if chunk.schema_number is not None and chunk.schema_number < number and chunk.outcome != "failed":
                found[chunk.schema_number].append(chunk)
    return found


async def _count_as_read(run: Run, chunk: StaleChunk, older: int, number: int) -> None:
    """What the chunk gave is what the newer schema asks it for: its claims stand under that one from now on."""
    outcome: Outcome = "extracted" if chunk.outcome == "extracted" else "empty"
    reason = f"As read under v{older}: what it gave was only removed or renamed since"
    read = Extraction(
        project_id=run.job.project_id,
        chunk_id=chunk.chunk_id,
        job_id=run.job.id,
        schema_number=number,
        outcome=outcome,
        reason=reason,
        extracted_at=now(),
    )
    async with run.store.transaction() as tx:
        if not await tx.jobs.note(run.job, run.run_id, schema_number=number, noted={}):
            raise Stale
        await tx.graph.carrying.chunk(read, since=older)
