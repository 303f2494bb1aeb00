"""A job from the bytes to the chunks: whole or not at all, and on from where it stopped."""

import asyncio
from pathlib import Path

import orjson
import pytest
from tests.endpoint import Behaviour, Endpoint, Gate, garbage, of_size, ok, status
from tests.ingest.conftest import SMALL, Desk, sentences

from whence.chunk import ChunkingOptions, strategy
from whence.ingest import Chunking
from whence.ingest.run import BATCH, BATCH_CHARACTERS
from whence.job_run import PAUSES, TryAgain
from whence.models import DEFAULT_PROJECT_ID, new_id

LONG = 3 * BATCH + 7


def seen(endpoint: Endpoint) -> list[str]:
    """Every text that was embedded, as often as it was."""
    return [text for request in endpoint.requests for text in request.inputs]


async def asked(endpoint: Endpoint) -> None:
    while not endpoint.requests:  # noqa: ASYNC110 - it is asked from another thread, which knows of no event
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("name", ["character", "sentence", "paragraph"])
async def test_every_chunk_is_a_slice_of_the_text(desk: Desk, name: str) -> None:
    text = "# Tïtle 漢字\n\n" + sentences(40) + "\n\n## More 🙂\n\n" + sentences(30, start=40)
    options = ChunkingOptions(max_chunk_size=300, min_chunk_size=20)
    receipt = await desk.hand_in(text, name="a.md", chunking=Chunking(strategy=name, options=options))
    assert (await desk.run(receipt)).status == "completed"
    assert await desk.text(receipt) == text
    chunks = await desk.chunks(receipt)
    assert len(chunks) > 5
    assert [chunk["chunk_index"] for chunk in chunks] == list(range(len(chunks)))
    for chunk in chunks:
        metadata = orjson.loads(orjson.dumps(chunk["metadata"]))
        assert text[metadata["startOffset"] : metadata["endOffset"]] == chunk["content"]
        assert metadata["strategy"] == name
        assert metadata["char_offset"] == metadata["startOffset"]
        assert metadata["source_page"] is None
        assert metadata["token_count"] > 0
        assert chunk["embedding"] is not None


@pytest.mark.parametrize(("name", "kinds"), [("a.py", {"paragraph"}), ("a.md", {"section"})])
async def test_a_remark_in_source_code_is_no_header(desk: Desk, name: str, kinds: set[str]) -> None:
    text = f"# One.\nfirst = 1  # {sentences(1)}\n\n# Two.\nsecond = 2  # {sentences(1, start=1)}\n"
    receipt = await desk.hand_in(
        text, name=name, chunking=Chunking(strategy="paragraph", options=SMALL.options)
    )
    assert (await desk.run(receipt)).status == "completed"
    metadata = [orjson.loads(orjson.dumps(chunk["metadata"])) for chunk in await desk.chunks(receipt)]
    assert {each["boundaryType"] for each in metadata[:1]} == kinds
    assert any(each["headings"] for each in metadata) == (kinds == {"section"})


async def test_progress_is_told(desk: Desk, endpoint: Endpoint) -> None:
    receipt = await desk.hand_in(sentences(LONG))
    before = await desk.job(receipt)
    assert (before.status, before.stage, before.done, before.total) == ("pending", None, 0, None)
    job = await desk.run(receipt)
    assert (job.status, job.stage, job.done, job.total, job.attempts) == (
        "completed",
        "storing",
        LONG,
        LONG,
        1,
    )
    assert job.started_at is not None
    assert job.completed_at is not None
    assert len(seen(endpoint)) == LONG


async def test_the_same_content_is_embedded_once(desk: Desk, endpoint: Endpoint) -> None:
    line = "This very sentence stands here again and again, in just these words of it."
    receipt = await desk.hand_in(" ".join([line] * 10))
    assert (await desk.run(receipt)).status == "completed"
    assert seen(endpoint) == [line]
    assert len({str(chunk["id"]) for chunk in await desk.chunks(receipt)}) == 10


async def test_a_run_that_is_stopped_goes_on_where_it_was(desk: Desk, endpoint: Endpoint) -> None:
    receipt = await desk.hand_in(sentences(LONG))
    with pytest.raises(TryAgain) as again:
        await desk.run(receipt, stopping=lambda: len(seen(endpoint)) >= 2 * BATCH)
    assert again.value.seconds == 0
    job = await desk.job(receipt)
    assert (job.status, job.done) == ("pending", 2 * BATCH)
    assert await desk.chunks(receipt) == []
    assert await desk.text(receipt) is None, "nothing is seen of it before it is whole"

    assert (await desk.run(receipt)).status == "completed"
    assert len(set(seen(endpoint))) == len(seen(endpoint)) == LONG, "nothing was embedded twice"


async def test_the_original_is_read_once(desk: Desk, endpoint: Endpoint, tmp_path: Path) -> None:
    receipt = await desk.hand_in(sentences(3))
    endpoint.script(status(500))
    with pytest.raises(TryAgain):
        await desk.run(receipt)
    for path in (tmp_path / "data" / "originals").rglob("*"):
        if path.is_file():
            path.unlink()
    assert (await desk.run(receipt)).status == "completed"


async def test_an_endpoint_that_is_down_is_tried_again_and_then_no_more(
    desk: Desk, endpoint: Endpoint
) -> None:
    receipt = await desk.hand_in(sentences(3))
    endpoint.default = status(503)
    for pause in PAUSES:
        with pytest.raises(TryAgain) as again:
            await desk.run(receipt)
        assert again.value.seconds == pause
        job = await desk.job(receipt)
        assert job.status == "pending"
        assert job.error_details is not None
        assert job.error_details["code"] == "EMBEDDING_UNAVAILABLE"
    job = await desk.run(receipt)
    assert (job.status, job.attempts) == ("failed", len(PAUSES) + 1)
    assert job.error_details is not None
    assert job.error_details["details"]["status"] == 503

    await desk.app.receiver.retry(job)
    endpoint.default = ok
    assert (await desk.run(receipt)).status == "completed"


async def test_getting_further_earns_new_tries(desk: Desk, endpoint: Endpoint) -> None:
    """Otherwise a long document would fail for the sum of many small hitches."""
    receipt = await desk.hand_in(sentences(LONG))
    for _ in range(3):
        sent = len(endpoint.requests)
        with pytest.raises(TryAgain) as again:
            await desk.run(receipt, stopping=lambda sent=sent: len(endpoint.requests) > sent)
        assert again.value.seconds == 0
    endpoint.script(status(503))
    with pytest.raises(TryAgain) as again:
        await desk.run(receipt)
    assert again.value.seconds == PAUSES[0]


@pytest.mark.parametrize(
    ("behaviour", "code"),
    [
        (of_size(3), "EMBEDDING_INVALID"),
        (garbage(), "EMBEDDING_INVALID"),
        (status(401), "EMBEDDING_REFUSED"),
    ],
)
async def test_what_the_same_again_would_not_mend_fails_at_once(
    desk: Desk, endpoint: Endpoint, behaviour: Behaviour, code: str
) -> None:
    receipt = await desk.hand_in(sentences(3))
    endpoint.default = behaviour
    job = await desk.run(receipt)
    assert job.status == "failed"
    assert job.error_details is not None
    assert job.error_details["code"] == code
    assert await desk.chunks(receipt) == []


async def test_a_bad_file_fails_with_its_reason_and_is_kept(desk: Desk) -> None:
    receipt = await desk.hand_in(b"\x7fELF" + bytes(5000), name="tool.pdf")
    job = await desk.run(receipt)
    assert job.status == "failed"
    assert job.error_details is not None
    assert job.error_details["code"] == "UNREADABLE_DOCUMENT"
    assert job.error_details["details"]["reason"] == "unsupported"
    document = await desk.app.store.documents.get(receipt.document_id)
    assert document.original_key is not None
    assert b"".join([part async for part in desk.app.originals.get(document.original_key)]).startswith(
        b"\x7fELF"
    )


async def test_a_document_that_ends_every_worker_is_given_up(desk: Desk) -> None:
    receipt = await desk.hand_in(sentences(3))
    assert receipt.job_id is not None
    for _ in range(len(PAUSES) + 1):  # taken, and never heard of again
        assert await desk.app.store.jobs.take(DEFAULT_PROJECT_ID, receipt.job_id, new_id())
    job = await desk.run(receipt)
    assert job.status == "failed"
    assert job.error_details is not None
    assert "stopped 5 times" in job.error_details["message"]


async def test_a_run_that_was_taken_for_dead_may_not_write(desk: Desk, endpoint: Endpoint) -> None:
    receipt = await desk.hand_in(sentences(LONG))
    endpoint.default = gate = Gate()
    first = asyncio.create_task(desk.run(receipt))
    await asked(endpoint)
    endpoint.default = ok
    second = await desk.run(receipt)
    assert second.status == "completed"
    gate.open()
    await first
    assert len(await desk.chunks(receipt)) == LONG
    assert (await desk.job(receipt)).attempts == 2


async def test_a_cancelled_job_stops_at_its_next_step(desk: Desk, endpoint: Endpoint) -> None:
    endpoint.default = gate = Gate()
    receipt = await desk.hand_in(sentences(LONG))
    running = asyncio.create_task(desk.run(receipt))
    await asked(endpoint)
    await desk.app.store.jobs.cancel(await desk.job(receipt))
    gate.open()
    assert (await running).status == "cancelled"
    assert await desk.chunks(receipt) == []
    assert len(seen(endpoint)) == BATCH

    await desk.app.receiver.retry(await desk.job(receipt))
    assert (await desk.run(receipt)).status == "completed"
    assert len(set(seen(endpoint))) == LONG


async def test_a_cancelled_job_with_large_chunks_stops_as_soon(desk: Desk, endpoint: Endpoint) -> None:
    endpoint.default = gate = Gate()
    large = Chunking(strategy="character", options=ChunkingOptions(max_chunk_size=10_000))
    receipt = await desk.hand_in(sentences(5_000), chunking=large)
    running = asyncio.create_task(desk.run(receipt))
    await asked(endpoint)
    await desk.app.store.jobs.cancel(await desk.job(receipt))
    gate.open()
    assert (await running).status == "cancelled"
    assert sum(map(len, seen(endpoint))) <= BATCH_CHARACTERS


async def test_a_cancelled_job_does_not_wait_for_a_slow_model(desk: Desk, endpoint: Endpoint) -> None:
    endpoint.default = gate = Gate()
    receipt = await desk.hand_in(sentences(1))
    running = asyncio.create_task(desk.run(receipt))
    await asked(endpoint)
    await desk.app.store.jobs.cancel(await desk.job(receipt))
    assert (await running).status == "cancelled"
    gate.open()


async def test_a_deleted_document_leaves_nothing(desk: Desk, endpoint: Endpoint) -> None:
    endpoint.default = gate = Gate()
    receipt = await desk.hand_in(sentences(LONG))
    running = asyncio.create_task(desk.app.ingest.run(DEFAULT_PROJECT_ID, receipt.job_id or new_id()))
    await asked(endpoint)
    await desk.app.remover.document(await desk.app.store.documents.get(receipt.document_id))
    gate.open()
    await running
    assert not await desk.app.originals.keys()
    assert await desk.app.store.documents.page(DEFAULT_PROJECT_ID, limit=10, offset=0) == ([], 0)


def test_small_is_small() -> None:
    """What the counts above rest on."""
    assert len(strategy(SMALL.strategy).chunk(sentences(LONG), SMALL.options)) == LONG
