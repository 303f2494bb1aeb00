"""Extractions of documents that changed between the order and the work: each job says what came of it."""

import psycopg
from tests.extract.test_histories import CUT
from tests.extracting import paragraphs, rows
from tests.graphs import picture
from tests.ingest.conftest import Desk

from whence.ingest import Receipt
from whence.models import DEFAULT_PROJECT_ID as PROJECT
from whence.models import Job

TEXT = paragraphs(
    "REQ-1: The Gateway must answer.\n\nOwner: Jane Doe", "REQ-2: The Archive must keep everything."
)


async def ordered(desk: Desk) -> tuple[Receipt, Job]:
    receipt = await desk.hand_in(TEXT, chunking=CUT)
    await desk.run(receipt)
    document = await desk.app.store.documents.get(receipt.document_id)
    return receipt, await desk.app.orders.document(document, scope="stale")


async def test_a_document_that_was_deleted_before_its_turn_leaves_nothing(desk: Desk, dsn: str) -> None:
    receipt, job = await ordered(desk)
    await desk.app.remover.document(await desk.app.store.documents.get(receipt.document_id))
    await desk.app.extraction.run(PROJECT, job.id)
    assert not any(picture(dsn).values())
    assert rows(dsn, "SELECT count(*) FROM kb.jobs") == [(0,)]


async def test_a_document_that_lost_its_embeddings_is_not_read(desk: Desk, dsn: str) -> None:
    receipt, job = await ordered(desk)
    with psycopg.connect(dsn) as conn:
        conn.execute("DELETE FROM kb.chunk_vectors")
    await desk.app.extraction.run(PROJECT, job.id)
    ended = await desk.app.store.jobs.get(job.id)
    assert ended.status == "failed"
    assert ended.error_details is not None
    assert ended.error_details["code"] == "CONFLICT"
    assert "no embeddings" in ended.error_details["message"]
    assert not any(picture(dsn).values())

    await desk.change(receipt, f"{TEXT} It is ingested anew.", chunking=CUT)
    assert rows(dsn, "SELECT count(*) FROM kb.chunk_extractions") == [(0,)]
