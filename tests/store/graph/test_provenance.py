"""The questions that provenance answers: from where, under which schema, and what is to be read again."""

from dataclasses import replace

import psycopg
from psycopg.types.json import Jsonb
from tests.graphs import extraction, extraction_job, key, require_sound, say, thing, tie, update
from tests.samples import AddSample

from whence.chunk_findings import FoundObject, FoundValue
from whence.models import DEFAULT_PROJECT_ID as PROJECT
from whence.models import Page
from whence.parse import page_at
from whence.store import Store
from whence.store.documents import page_map


async def test_the_chunks_of_an_object_and_the_objects_of_a_chunk(
    store: Store, add_sample: AddSample
) -> None:
    one, two = await add_sample(), await add_sample(name="b.pdf")
    (ident,) = (await say(store, one.chunks[2], thing("A", color="red"))).objects
    assert ident is not None
    await say(store, one.chunks[0], update(ident, size=1), thing("B"), schema=2)
    await say(store, two.chunks[1], thing("A"), schema=3)
    mentions, total = await store.graph.mentions.of_object(PROJECT, ident, limit=10, offset=0)
    assert total == 3
    assert [
        (m.place.document_name, m.place.chunk_index, m.place.page, m.property_names, m.schema_number)
        for m in mentions
    ] == [
        (one.document.name, 0, 1, ("size",), 2),
        (one.document.name, 2, 1, ("color", "name"), 1),
        ("b.pdf", 1, 1, ("name",), 3),
    ]
    paged, total = await store.graph.mentions.of_object(PROJECT, ident, limit=1, offset=2)
    assert (paged, total) == (mentions[2:], 3)
    found, total = await store.graph.mentions.of_chunk(PROJECT, one.chunks[0].id, limit=10, offset=0)
    assert total == 2
    assert [(item.name, names) for item, names in found] == [("A", ("size",)), ("B", ("name",))]


async def test_the_page_is_the_one_the_quote_begins_on(store: Store, add_sample: AddSample, dsn: str) -> None:
    sample = await add_sample()
    before, chunk = sample.chunks[0].content, sample.chunks[1]
    start = len(before)
    pages = [
        Page(number=1, start=0, end=start + 4),
        Page(number=2, start=start + 6, end=start + 9),
        Page(number=3, start=start + 9, end=start + 9),
        Page(number=4, start=start + 11, end=start + 100),
    ]
    metadata = {"source_page": 1, "startOffset": start, "endOffset": start + len(chunk.content)}
    with psycopg.connect(dsn) as conn:
        conn.execute("UPDATE kb.documents SET page_map = %s", [page_map(pages)])
        conn.execute("UPDATE kb.chunks SET metadata = %s WHERE id = %s", [Jsonb(metadata), chunk.id])
    places = range(15)
    said = {
        f"at {at}": FoundValue(value=at, quote=chunk.content[at], start_offset=at, end_offset=at + 1)
        for at in places
    }
    a, b = (
        await say(
            store,
            chunk,
            FoundObject(key=key("A"), name="A", properties={**said, "unquoted": FoundValue(value=1)}),
            thing("B"),
            ties=[replace(tie("A", "is", "B"), quote="x", start_offset=12, end_offset=13)],
        )
    ).objects
    assert a
    assert b
    provenance = store.graph.provenance
    claims, _ = await provenance.of_object(PROJECT, a, limit=100, offset=0)
    found = {claim.property_name: claim.place.page for claim in claims}
    assert found == {f"at {at}": page_at(pages, start + at) for at in places} | {"unquoted": 1, "name": 1}
    assert set(found.values()) == {1, 2, 4}
    assert {claim.place.page for claim in await provenance.current(PROJECT, [a])} == {1, 2, 4}
    edges, _ = await store.graph.relationships.page(PROJECT, limit=10, offset=0)
    (edge,) = await provenance.current_of_relationships(PROJECT, [edges[0].id])
    assert edge.place.page == 4
    (mention,), _ = await store.graph.mentions.of_object(PROJECT, a, limit=10, offset=0)
    assert mention.place.page == 1


async def test_what_was_extracted_under_older_schemas(store: Store, add_sample: AddSample) -> None:
    """By number: v10 is newer than v2."""
    chunks = (await add_sample()).chunks
    (ident,) = (await say(store, chunks[0], thing("A", color="red"), schema=2)).objects
    assert ident is not None
    await say(store, chunks[1], update(ident, size=1), schema=10)
    older, total = await store.graph.provenance.older(PROJECT, 10, limit=10, offset=0)
    assert (total, [claim.property_name for claim in older]) == (2, ["color", "name"])
    assert {claim.schema_version for claim in older} == {"v2"}
    _, total = await store.graph.provenance.older(PROJECT, 11, limit=1, offset=0)
    assert total == 3
    assert await store.graph.provenance.older(PROJECT, 2, limit=10, offset=0) == ([], 0)


async def test_a_job_goes_on_at_the_first_chunk_it_has_not_read(store: Store, add_sample: AddSample) -> None:
    sample = await add_sample(chunks=3)
    job = await extraction_job(store, sample.job)
    ledger = store.graph.ledger
    seen = []
    outcomes = iter(("extracted", "empty", "failed"))
    while (following := await ledger.next_chunk(PROJECT, sample.document.id, job.id)) is not None:
        seen.append(following[1])
        chunk = sample.chunks[following[1]]
        said = extraction(
            chunk, job_id=job.id, outcome=next(outcomes), reason="why", prompt_tokens=10, completion_tokens=2
        )
        await store.graph.write_chunk(said)
    assert seen == [0, 1, 2]
    other = await extraction_job(store, sample.job)
    assert await ledger.next_chunk(PROJECT, sample.document.id, other.id, after=0) == (sample.chunks[1].id, 1)
    assert await ledger.counts(PROJECT, job.id) == {"extracted": 1, "empty": 1, "failed": 1, "rejected": 0}
    (failed,), _ = await ledger.readings(PROJECT, job.id, outcome="failed", limit=5, offset=0)
    assert (failed["chunk_id"], failed["chunk_index"], failed["reason"]) == (sample.chunks[2].id, 2, "why")
    await store.graph.write_chunk(extraction(sample.chunks[2], job_id=job.id, prompt_tokens=5))
    readings, total = await ledger.readings(PROJECT, job.id, limit=5, offset=0)
    assert ([reading["prompt_tokens"] for reading in readings], total) == ([10, 10, 15], 3)


async def test_the_chunks_to_read_again(store: Store, add_sample: AddSample) -> None:
    """Last read under an older schema, empty ones included; never read; or not readable."""
    sample, other = await add_sample(chunks=5), await add_sample(name="b.pdf", chunks=1)
    first, second = await extraction_job(store, sample.job), await extraction_job(store, sample.job)
    await say(store, sample.chunks[0], thing("A"), job_id=first.id, schema=2)
    await say(store, sample.chunks[1], job_id=first.id, schema=2)
    await say(store, sample.chunks[2], job_id=first.id, schema=2)
    await say(store, sample.chunks[2], job_id=second.id, schema=10)
    await say(store, sample.chunks[3], job_id=first.id, schema=10, outcome="failed")
    ledger = store.graph.ledger
    stale, total = await ledger.stale(PROJECT, 10, document_id=sample.document.id, limit=10, offset=0)
    assert total == 4
    assert [(one["chunk_index"], one["schema_number"], one["outcome"]) for one in stale] == [
        (0, 2, "extracted"),
        (1, 2, "empty"),
        (3, 10, "failed"),
        (4, None, None),
    ]
    assert stale[0]["characters"] == len(sample.chunks[0].content)
    _, total = await ledger.stale(PROJECT, 10, limit=1, offset=0)
    assert total == 5
    by_version = await ledger.by_version(PROJECT, 10)
    assert sum(characters for _, characters in by_version.values()) == sum(
        len(chunk.content) for chunk in (*sample.chunks, *other.chunks) if chunk.id != sample.chunks[2].id
    )
    assert sum(count for count, _ in by_version.values()) == 5
    assert await count_to_read(store, 10, every=True) == 6
    assert await ledger.stale_documents(PROJECT, 10) == [sample.document.id, other.document.id]
    assert await ledger.stale_documents(PROJECT, 2) == [sample.document.id, other.document.id]


async def count_to_read(store: Store, schema_number: int, *, every: bool = False) -> int:
    by_version = await store.graph.ledger.by_version(PROJECT, schema_number, every=every)
    return sum(count for count, _ in by_version.values())


async def test_what_has_no_vector_is_not_to_be_read(store: Store, add_sample: AddSample, dsn: str) -> None:
    sample = await add_sample(chunks=2)
    assert await count_to_read(store, 1) == 2
    with psycopg.connect(dsn) as conn:
        conn.execute("DELETE FROM kb.chunk_vectors WHERE id = %s", [sample.chunks[0].id])
    assert await count_to_read(store, 1) == 1


async def test_reading_only_what_is_stale(store: Store, add_sample: AddSample) -> None:
    sample = await add_sample(chunks=3)
    old, new = await extraction_job(store, sample.job), await extraction_job(store, sample.job)
    for chunk, schema in zip(sample.chunks, (1, 2, 1), strict=True):
        await say(store, chunk, job_id=old.id, schema=schema)
    seen = []
    ledger = store.graph.ledger
    while following := await ledger.next_chunk(PROJECT, sample.document.id, new.id, stale_before=2):
        seen.append(following[1])
        await say(store, sample.chunks[following[1]], job_id=new.id, schema=2)
    assert seen == [0, 2]


async def test_a_chunk_that_says_the_same_again_is_no_newer(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    """Read again under another schema, an older document does not overrule a newer one."""
    one, two = await add_sample(), await add_sample(name="b.pdf")
    (ident,) = (await say(store, one.chunks[0], thing("A", due="2024"))).objects
    assert ident
    await say(store, two.chunks[0], thing("A", due="2025"))
    await say(store, one.chunks[0], thing("A", due="2024"), schema=2)
    require_sound(dsn)
    assert (await store.graph.objects.get(ident)).properties == {"due": "2025"}
    history, _ = await store.graph.provenance.history(PROJECT, ident, limit=10, offset=0)
    assert [(event["event"], event["property_name"], event["value"]) for event in history][:2] == [
        ("created", "name", "A"),
        ("created", "due", "2024"),
    ]
    claims, _ = await store.graph.provenance.of_object(PROJECT, ident, property_name="due", limit=9, offset=0)
    newer, older = claims
    assert (newer.schema_version, newer.place.read_at) == ("v1", newer.extracted_at)
    assert older.schema_version == "v2"
    assert older.place.read_at is not None
    assert older.extracted_at < newer.extracted_at < older.place.read_at
    await say(store, one.chunks[0], thing("A", due="2026"), schema=3)
    assert (await store.graph.objects.get(ident)).properties == {"due": "2025"}
