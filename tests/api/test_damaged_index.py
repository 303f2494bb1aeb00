"""Search with a damaged text index: it finds what is left of it, and never answers 500."""

from typing import LiteralString

import httpx
import psycopg
import pytest
from tests.api.ingesting import data_of, ingest

from whence.models import DEFAULT_PROJECT_ID
from whence.search.index import compare_index, reindex
from whence.store import Store

pytestmark = pytest.mark.own_app

DAMAGES: list[LiteralString] = [
    "DELETE FROM kb.lexical_blocks",
    "UPDATE kb.lexical_blocks SET payload = ''",
    "UPDATE kb.lexical_blocks SET payload = substr(payload, 1, length(payload) / 2)",
    r"UPDATE kb.lexical_blocks SET payload = '\xffffffffffffffff'",
    "DELETE FROM kb.lexical_words",
    "UPDATE kb.lexical_words SET payload = ''",
    "UPDATE kb.lexical_words SET payload = substr(payload, 1, length(payload) / 2)",
]
QUESTIONS = ("heron", "herron ponds", '"grey heron"', "grey heron waiting in a pond")


async def test_no_search_fails(client: httpx.AsyncClient, store: Store, dsn: str) -> None:
    """The check sees each damage until a reindex."""
    birds = await ingest(client, "A grey heron waits in the pond. " * 4, name="birds.txt")
    await ingest(client, "The bittern booms in the reed. " * 4, name="reed.txt")
    with psycopg.connect(dsn, autocommit=True) as database:
        for damage in DAMAGES:
            assert database.execute(damage).rowcount > 0
            for mode in ("text", "hybrid", "vector"):
                for query in QUESTIONS:
                    found = data_of(await client.post("/api/v1/search", json={"query": query, "mode": mode}))
                    assert found["mode"] == mode
            index = await compare_index(store, DEFAULT_PROJECT_ID)
            assert (index.missing, index.superfluous) == (0, 0)
            assert index.incomplete == (2 if "blocks" in damage else 0), damage
            assert index.wordless == (2 if "words" in damage else 0), damage
            await reindex(store, DEFAULT_PROJECT_ID)
            assert not any(await compare_index(store, DEFAULT_PROJECT_ID))
            found = data_of(await client.post("/api/v1/search", json={"query": "herron", "mode": "text"}))
            assert [hit["document"]["id"] for hit in found["items"]] == [birds["documentId"]]
