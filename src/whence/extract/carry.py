"""What a newer schema changes without anybody reading a chunk again: properties that are only gone or renamed."""

from collections import defaultdict
from contextlib import suppress
from uuid import UUID

from whence.errors import ChunkNotFound
from whence.extract.schema import Schema
from whence.extract.schema_diff import Diff, diff, needs_model
from whence.extract.schema_reading import read_schema
from whence.runs import Run, Stale
from whence.store import Store
from whence.store.graph.ledger import StaleChunk
from whence.types import Extraction, Outcome, now

_PAGE = 1000


async def carry_over(run: Run, schema: Schema, number: int) -> None:
    """Put right what the document's chunks gave under older schemas; those that need no more than that count as read."""
    store, job = run.store, run.job
    by_version = await _stale_by_version(store, job.project_id, job.document_id, number)
    for older in sorted(by_version):
        version = await store.schemas.get(job.project_id, older)
        change = diff(read_schema(version.body), schema)
        await apply(store, job.project_id, change, number)
        if is_enough(change):
            for chunk in by_version[older]:
                with suppress(ChunkNotFound):  # deleted meanwhile
                    await _count_as_read(run, chunk, older, number)


def is_enough(change: Diff) -> bool:
    """Whether `apply` does all that the newer schema asks for."""
    others = [each for each in (*change.removed, *change.renamed) if each.kind != "property"]
    return not needs_model(change) and not others


async def apply(store: Store, project_id: UUID, change: Diff, number: int) -> None:
    """In the whole project, and once: a second time there is nothing left of the old names."""
    for each in change.renamed:
        if each.kind == "property" and each.type and each.was:
            await store.graph.carrying.rename_property(
                project_id, each.type, each.was, each.name, schema_number=number
            )
    for each in change.removed:
        if each.kind == "property" and each.type:
            await store.graph.carrying.forget_property(project_id, each.type, each.name)


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
    reason = f"As read under v{older}: properties were only removed or renamed since"
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
