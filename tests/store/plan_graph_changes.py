"""Changes of the graph, for `test_plans.py`."""

from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

from tests.graphs import key, thing, tie, update
from tests.store.plan_database import SPACE, absent, chunk

from whence.chunk_findings import ChunkExtraction, FoundAlias
from whence.models import (
    Word,
    new_id,
)
from whence.store import (
    Store,
)
from whence.store.graph import (
    MergeSuggestion,
    SuggestedObject,
)
from whence.store.graph.schema_moves import (
    PropertyMove,
    RelationshipMove,
    TypeMove,
)


async def extracted(store: Store, rows: Any) -> None:
    chunk_id, job_id, project_id, _ = rows[0]
    said = ChunkExtraction(
        project_id=project_id,
        chunk_id=UUID(chunk_id),
        job_id=UUID(job_id),
        schema_number=2,
        outcome="extracted",
        objects=[thing("One", color="red"), thing("Two", color="blue")],
        aliases=[FoundAlias(of=key("One"), alias="First", start_offset=0, end_offset=5)],
        relationships=[tie("One", "is", "Two")],
    )
    one, two = (await store.graph.write_chunk(said)).objects
    assert one is not None
    assert two is not None
    await store.graph.objects.put_vectors(project_id, SPACE, {two: [1, 2, 3, 4]})
    await store.graph.objects.forget_vectors(project_id, [two])
    again = replace(
        said, objects=[update(one, size=1)], relationships=[tie(one, "is", two), tie(two, "is", one)]
    )
    await store.graph.write_chunk(
        replace(again, chunk_id=UUID(rows[1][0]) if rows[1][2] == project_id else UUID(chunk_id))
    )
    await store.graph.write_chunk(replace(again, objects=[]))
    await store.graph.schema_moves.apply(
        project_id, PropertyMove(type="Thing", name="color", new_name="colour"), schema_number=3
    )
    await store.graph.schema_moves.apply(
        project_id, PropertyMove(type="Thing", name="colour"), schema_number=4
    )
    await store.graph.schema_moves.count_as_read(replace(said, schema_number=4), since=2)
    merge = await store.graph.merges.merge(project_id, keep_id=one, drop_id=two)
    await store.chunks.insert([another := chunk(rows[0], 2000, new_id())])
    await store.graph.write_chunk(
        replace(said, chunk_id=another.id, objects=[thing("Three")], relationships=[tie(two, "is", "Three")])
    )
    await store.graph.merges.put_vectors(project_id, SPACE, {two: [1, 2, 3, 4]})
    await store.graph.merges.undo(project_id, merge.id)
    await _retyped(store, said)


async def dismissed(store: Store, rows: Any) -> None:
    ends = [SuggestedObject(id=uuid4(), name=name, name_key=name) for name in "ab"]
    suggestion = MergeSuggestion(id=uuid4(), type="Thing", score=1, reasons={}, keep=ends[0], drop=ends[1])
    await store.graph.suggestions.dismiss(rows[0][2], suggestion)
    await store.graph.suggestions.restore(rows[0][2], suggestion)
    await absent(store.graph.suggestions.get(rows[0][2], uuid4()))


async def withdrawn(store: Store, rows: Any) -> None:
    """The chunk no longer says what it said before."""
    chunk_id, job_id, project_id, _ = rows[0]
    said = ChunkExtraction(
        project_id=project_id,
        chunk_id=UUID(chunk_id),
        job_id=UUID(job_id),
        schema_number=2,
        outcome="extracted",
        objects=[thing("Three", color="red"), thing("Four")],
        relationships=[tie("Three", "is", "Four", since=3)],
    )
    one, other = (await store.graph.write_chunk(said)).objects
    assert one is not None
    assert other is not None
    silent = replace(
        said,
        objects=(),
        relationships=(),
        outcome="empty",
        withdrawn=((one, "color"), (one, "name")),
        withdrawn_ties=(("is", one, other),),
    )
    await store.graph.write_chunk(silent)


async def corrected(store: Store, rows: Any) -> None:
    """Everything is rejected, read again, restored and rejected again."""
    chunk_id, job_id, project_id, _ = rows[0]
    said = ChunkExtraction(
        project_id=project_id,
        chunk_id=UUID(chunk_id),
        job_id=UUID(job_id),
        schema_number=2,
        outcome="extracted",
        objects=[thing("One", color="red", size=1), thing("Two")],
        relationships=[tie("One", "is", "Two")],
    )
    written = await store.graph.write_chunk(said)
    one, tied, curations, ada = (
        written.objects[0],
        written.relationships[0],
        store.graph.curations,
        Word(author="Ada"),
    )
    assert one is not None
    assert tied is not None
    found, _ = await store.graph.provenance.of_object(project_id, one, limit=9, offset=0)
    claims_of = {claim.property_name: claim.id for claim in found}
    (was_set,) = await curations.set(project_id, one, {"color": "blue"}, ada)
    rejected = [
        await curations.reject_relationship(project_id, tied, ada),
        await curations.reject_claim(project_id, one, claims_of["color"], ada),
        await curations.reject_property(project_id, one, "size", ada),
        await curations.reject_claim(project_id, one, was_set.id, ada),
    ]
    await store.graph.write_chunk(said)
    await curations.undo(project_id, rejected[0].id, ada)
    rejected += [await curations.reject_claim(project_id, one, claims_of["name"], ada)]
    await curations.undo(project_id, rejected[-1].id, ada)
    gone = await curations.reject_object(project_id, one, ada)
    await store.graph.write_chunk(said)
    undone = await curations.undo(project_id, gone.id, ada)
    await curations.undo(project_id, undone.id, ada)


async def replaced(store: Store, rows: Any) -> None:
    chunk_id, job_id, project_id, document_id = rows[0]
    said = ChunkExtraction(
        project_id=project_id,
        chunk_id=UUID(chunk_id),
        job_id=UUID(job_id),
        schema_number=2,
        outcome="extracted",
        objects=[thing("One")],
    )
    await store.graph.write_chunk(said)
    await store.graph.removal.replaced(project_id, document_id, [UUID(chunk_id)])


async def _retyped(store: Store, said: ChunkExtraction) -> None:
    """Types that are renamed and removed, each with something of its own to do it to."""
    items = [thing("Two", "Item"), thing("One", "Gone")]
    await store.graph.write_chunk(replace(said, objects=items, relationships=[]))
    project_id = said.project_id
    await store.graph.schema_moves.apply(
        project_id,
        RelationshipMove(type="is", new_type="is", renamed={"a": "b"}, removed=["c"]),
        schema_number=3,
    )
    await store.graph.schema_moves.apply(
        project_id, RelationshipMove(type="is", new_type="was"), schema_number=3
    )
    await store.graph.schema_moves.apply(project_id, RelationshipMove(type="was"), schema_number=4)
    await store.graph.schema_moves.apply(project_id, TypeMove(type="Gone"), schema_number=4)
    await store.graph.schema_moves.apply(project_id, TypeMove(type="Thing", new_type="Item"), schema_number=4)
    await store.graph.schema_moves.apply(project_id, TypeMove(type="Item", new_type="Thing"), schema_number=4)
