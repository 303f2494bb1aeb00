"""What the rules know of a chunk from the rest of its document: the headings above it, and the head of its table."""

import pytest
from tests.extract.test_histories import CUT
from tests.extracting import rows
from tests.ingest.conftest import Desk

from whence.ingest import Chunking
from whence.models import DEFAULT_PROJECT_ID as PROJECT

COUNT = 150
SHEETS = {
    "pipes": "| Service | Owner | Port |\n|---|---|---|\n"
    + "\n".join(f"| Service No {at} | Jane Doe | {1000 + at} |" for at in range(COUNT)),
    "commas": "Service,Owner,Port\n"
    + "\n".join(f"Service No {at},Jane Doe,{1000 + at}" for at in range(COUNT)),
}


async def extracted(desk: Desk, dsn: str, text: str, chunking: Chunking = CUT) -> list[tuple[str, str]]:
    receipt = await desk.hand_in(text, name="text.md", chunking=chunking)
    await desk.run(receipt)
    document = await desk.app.store.documents.get(receipt.document_id)
    job = await desk.app.orders.document(document, scope="stale")
    await desk.app.extraction.run(PROJECT, job.id)
    assert (await desk.app.store.jobs.get(job.id)).status == "completed"
    return rows(dsn, "SELECT type, name FROM kb.graph_objects ORDER BY type, name")


@pytest.mark.parametrize("text", SHEETS.values(), ids=SHEETS)
@pytest.mark.parametrize("strategy", ["character", "paragraph"])
async def test_rows_of_a_long_table_keep_their_heads_in_every_chunk(
    desk: Desk, dsn: str, strategy: str, text: str
) -> None:
    await extracted(desk, dsn, text, Chunking(strategy=strategy))
    assert rows(dsn, "SELECT count(*) > 2 FROM kb.chunks") == [(True,)]
    found = rows(
        dsn,
        "SELECT name, properties ->> 'owner', properties ->> 'Port' FROM kb.graph_objects WHERE type = 'Component'",
    )
    wanted = {(f"Service No {at}", "Jane Doe", str(1000 + at)) for at in range(COUNT)}
    assert set(found) <= wanted  # a row that was cut is left out, never half read
    chunks = rows(dsn, "SELECT count(*) FROM kb.chunks")[0][0]
    assert len(found) > COUNT - chunks
