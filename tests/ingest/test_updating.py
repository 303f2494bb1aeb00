"""A document changes in place: its id stays, and so does every chunk whose content does."""

import asyncio
from uuid import UUID

import orjson
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.endpoint import Endpoint, slow, status
from tests.graphs import require_sound, thing
from tests.ingest.conftest import SMALL, Desk, sentences

from whence.chunk import ChunkingOptions
from whence.chunk_findings import ChunkExtraction
from whence.errors import Conflict, DocumentNotFound
from whence.ingest import Chunking
from whence.ingest.publish import matched
from whence.job_run import TryAgain
from whence.models import DEFAULT_PROJECT_ID, new_id
from whence.store.chunks import Laid

PARAGRAPH = Chunking(strategy="paragraph", options=ChunkingOptions(max_chunk_size=200, min_chunk_size=10))


async def test_what_stays_keeps_its_id_and_its_vector(desk: Desk, endpoint: Endpoint) -> None:
    receipt = await desk.hand_in(sentences(20))
    await desk.run(receipt)
    before = {chunk["content"]: chunk for chunk in await desk.chunks(receipt)}
    embedded = len(endpoint.requests)

    _, *rest = sentences(20).split("all. ")
    text = "all. ".join([*rest, "And one that is quite new to it."]).strip()
    changed = await desk.change(receipt, text)
    assert (changed.document_id, changed.already_exists) == (receipt.document_id, False)
    assert changed.job_id != receipt.job_id
    assert (await desk.run(changed)).status == "completed"

    after = await desk.chunks(changed)
    assert await desk.text(changed) == text
    assert [chunk["chunk_index"] for chunk in after] == list(range(len(after)))
    kept = [chunk for chunk in after if chunk["content"] in before]
    assert len(kept) >= 18
    for chunk in kept:
        old = before[chunk["content"]]
        assert chunk["id"] == old["id"]
        assert orjson.dumps(chunk["embedding"]) == orjson.dumps(old["embedding"])
        assert chunk["job_id"] == str(changed.job_id)
        assert chunk["created_at"] == old["created_at"]
    sent = [text for request in endpoint.requests[embedded:] for text in request.inputs]
    assert set(sent) == {chunk["content"] for chunk in after} - before.keys()


async def test_what_the_chunks_that_go_said_goes_with_them(desk: Desk, dsn: str) -> None:
    receipt = await desk.hand_in(sentences(4))
    await desk.run(receipt)
    first, *_, last = await desk.chunks(receipt)
    for view, color in ((last, "red"), (first, "blue")):
        said = ChunkExtraction(
            project_id=DEFAULT_PROJECT_ID,
            chunk_id=UUID(view["id"]),
            job_id=UUID(view["job_id"]),
            schema_number=1,
            outcome="extracted",
            objects=[thing("Stays", color=color), thing(f"Only {color}")],
        )
        await desk.app.store.graph.write_chunk(said)
    await desk.run(await desk.change(receipt, sentences(3, start=1)))
    require_sound(dsn)
    found, _ = await desk.app.store.graph.objects.page(DEFAULT_PROJECT_ID, limit=10, offset=0)
    assert {item.name: item.properties for item in found} == {"Stays": {"color": "red"}, "Only red": {}}


async def test_another_strategy_needs_no_reading(desk: Desk) -> None:
    receipt = await desk.hand_in(sentences(20))
    await desk.run(receipt)
    changed = await desk.change(receipt, chunking=PARAGRAPH)
    await desk.run(changed)
    chunks = await desk.chunks(changed)
    assert len(chunks) < 20
    assert await desk.text(changed) == sentences(20)


async def test_the_same_again_is_no_work(desk: Desk) -> None:
    receipt = await desk.hand_in(sentences(5))
    under_way = await desk.change(receipt, sentences(5))
    assert (under_way.already_exists, under_way.job_id, under_way.status) == (True, receipt.job_id, "pending")
    await desk.run(receipt)
    done = await desk.change(receipt, sentences(5), chunking=SMALL)
    assert (done.already_exists, done.job_id, done.status) == (True, receipt.job_id, "completed")


async def test_readers_see_the_old_or_the_new_and_never_a_mix(desk: Desk, endpoint: Endpoint) -> None:
    old, new = sentences(150), sentences(150, start=1000)
    receipt = await desk.hand_in(old)
    await desk.run(receipt)
    endpoint.default = slow(0.05)
    changed = await desk.change(receipt, new)
    running = asyncio.create_task(desk.run(changed))
    views = set()
    while not running.done():
        found = await desk.chunks(receipt)
        views.add(" ".join(chunk["content"] for chunk in found))
        await asyncio.sleep(0)
    await running
    views.add(" ".join(chunk["content"] for chunk in await desk.chunks(receipt)))
    assert views == {old, new}


async def test_a_failed_update_leaves_the_old(desk: Desk, endpoint: Endpoint) -> None:
    receipt = await desk.hand_in(sentences(5))
    await desk.run(receipt)
    before = await desk.chunks(receipt)
    changed = await desk.change(receipt, sentences(5, start=50))
    endpoint.default = status(401)
    assert (await desk.run(changed)).status == "failed"
    assert await desk.text(receipt) == sentences(5)
    assert [chunk["id"] for chunk in await desk.chunks(receipt)] == [chunk["id"] for chunk in before]


async def test_a_newer_version_takes_the_place_of_one_under_way(desk: Desk, endpoint: Endpoint) -> None:
    receipt = await desk.hand_in(sentences(5))
    endpoint.script(status(503))
    with pytest.raises(TryAgain):
        await desk.run(receipt)
    changed = await desk.change(receipt, sentences(5, start=50))
    old = await desk.job(receipt)
    assert old.status == "cancelled"
    assert old.error_details is not None
    assert old.error_details["code"] == "SUPERSEDED"
    with pytest.raises(Conflict):
        await desk.app.receiver.retry(old)
    await desk.run(receipt)
    assert await desk.text(receipt) is None
    await desk.run(changed)
    assert await desk.text(receipt) == sentences(5, start=50)


async def test_the_old_original_goes_when_the_new_is_in(desk: Desk) -> None:
    receipt = await desk.hand_in(sentences(5))
    await desk.run(receipt)
    changed = await desk.change(receipt, sentences(6))
    assert len(await desk.app.originals.keys()) == 2
    await desk.run(changed)
    document = await desk.app.store.documents.get(receipt.document_id)
    assert await desk.app.originals.keys() == [document.original_key]


async def test_two_documents_may_not_become_one(desk: Desk) -> None:
    """Of the same name: they had to be one before, too."""
    one = await desk.hand_in(sentences(5))
    two = await desk.hand_in(sentences(6))
    with pytest.raises(Conflict) as error:
        await desk.change(two, sentences(5))
    assert error.value.details["document_id"] == str(one.document_id)


async def test_the_same_file_many_times_at_once_is_one_document(desk: Desk) -> None:
    receipts = await asyncio.gather(*(desk.hand_in(sentences(5)) for _ in range(5)))
    assert len({receipt.document_id for receipt in receipts}) == 1
    assert [receipt.already_exists for receipt in receipts].count(False) == 1
    assert len(await desk.app.originals.keys()) == 1
    _, total = await desk.app.store.jobs.page(DEFAULT_PROJECT_ID, limit=1, offset=0)
    assert total == 1


HASHES = st.lists(st.sampled_from([b"a", b"b", b"c", b"d"]), max_size=12)


@given(old=HASHES, new=HASHES)
def test_as_much_as_possible_is_matched(old: list[bytes], new: list[bytes]) -> None:
    laid = [Laid(new_id(), content, None, True) for content in old]  # noqa: FBT003 - a row
    ids = matched(laid, new)
    given_ids = [ident for ident in ids if ident is not None]
    by_id = {chunk.id: chunk.content_hash for chunk in laid}
    assert len(ids) == len(new)
    assert len(set(given_ids)) == len(given_ids), "each is given once"
    assert all(ident is None or by_id[ident] == content for ident, content in zip(ids, new, strict=True))
    for content in set(new):
        places = [ident for ident, one in zip(ids, new, strict=True) if one == content and ident is not None]
        assert len(places) == min(old.count(content), new.count(content))
        assert places == sorted(places), "in the order they had"


@pytest.mark.parametrize("sent", ["a new version", "the same file"])
async def test_a_document_that_is_deleted_after_it_was_found(desk: Desk, dsn: str, sent: str) -> None:
    text = sentences(3)
    receipt = await desk.hand_in(text)
    await desk.run(receipt)
    async with (
        await psycopg.AsyncConnection.connect(dsn) as deleting,
        await psycopg.AsyncConnection.connect(dsn, autocommit=True) as watching,
    ):
        await deleting.execute("LOCK TABLE kb.jobs")
        new = desk.change(receipt, sentences(4)) if sent == "a new version" else desk.hand_in(text)
        update = asyncio.create_task(new)
        while await (await watching.execute("SELECT FROM pg_locks WHERE NOT granted")).fetchone() is None:
            assert not update.done()
            await asyncio.sleep(0.01)
        await deleting.execute("DELETE FROM kb.documents WHERE id = %s", [receipt.document_id])
        await deleting.commit()
    if sent == "a new version":
        with pytest.raises(DocumentNotFound):
            await update
    else:
        again = await update
        assert not again.already_exists
        assert again.document_id != receipt.document_id
