"""Chunks are read by their ids without a look at the other documents of the project, also before there are statistics."""

import re

import psycopg
from tests.samples import AddSample

from whence.store.chunks import SELECT_BY_IDS

DOCUMENTS = 60


async def test_no_document_is_read_for_another_ones_chunk(add_sample: AddSample, dsn: str) -> None:
    for number in range(DOCUMENTS):
        await add_sample(chunks=10, name=f"{number}.txt")
    sample = await add_sample(chunks=100)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("VACUUM ANALYZE kb.chunks, kb.jobs")  # autovacuum may see them before the documents
        conn.execute("SET random_page_cost = 1.1")
        explain = "EXPLAIN (ANALYZE, TIMING OFF) " + SELECT_BY_IDS[True, False]
        plan = conn.execute(explain, {"ids": sample.ids, "project_id": None}).fetchall()
    read = [float(rows) for (line,) in plan for rows in re.findall(r"actual rows=([\d.]+)", line)]
    assert read
    assert max(read) <= 100, plan
