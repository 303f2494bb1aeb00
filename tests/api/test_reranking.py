"""Search with a reranker on loopback, over HTTP."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.api.conftest import usual_settings
from tests.api.ingesting import data_of, ingest
from tests.loopback import status
from tests.rerank_endpoint import RerankEndpoint, answering

from whence.settings import Settings

SMALL = {"chunkingStrategy": "sentence", "chunkingOptions": {"maxChunkSize": 100, "minChunkSize": 10}}
TEXT = " ".join(f"The ledger of harbour number {n} lists the ships of the year 19{n:02}." for n in range(40))


@pytest.fixture
def reranking() -> Iterator[RerankEndpoint]:
    with RerankEndpoint() as opened:
        yield opened


@pytest.fixture
def settings(dsn: str, tmp_path: Path, reranking: RerankEndpoint) -> Settings:
    usual = usual_settings(dsn, tmp_path / "data")
    return replace(usual, rerank_base_url=reranking.url, rerank_model="test")


async def search(client: httpx.AsyncClient, **fields: Any) -> dict[str, Any]:
    body = {"query": "ledger of the harbour", **fields}
    found: dict[str, Any] = data_of(await client.post("/api/v1/search", json=body))
    return found


def contents(found: dict[str, Any]) -> list[str]:
    return [hit["chunk"]["content"] for hit in found["items"]]


async def test_the_first_thirty_are_ordered_by_the_reranker(
    client: httpx.AsyncClient, reranking: RerankEndpoint
) -> None:
    await ingest(client, TEXT, **SMALL)
    reranking.script(status(503))
    before = await search(client, limit=35)
    (note,) = before["notes"]
    assert note.startswith("The hits are not reranked: ")
    assert {hit["scores"]["rerank"] for hit in before["items"]} == {None}

    last_first = [{"index": n, "relevance_score": n} for n in range(30)]
    reranking.default = answering({"results": last_first})
    after = await search(client, limit=35)
    assert after["notes"] == []
    assert contents(after)[:30] == reranking.requests[-1].body["documents"][::-1]
    assert [hit["scores"]["rerank"] for hit in after["items"]] == [*range(29, -1, -1), *[None] * 5]
    assert len(reranking.requests[-1].body["documents"]) == 30


async def test_nothing_found_needs_no_reranker(client: httpx.AsyncClient, reranking: RerankEndpoint) -> None:
    await ingest(client, TEXT, **SMALL)
    assert (await search(client, query='"volcano"'))["items"] == []
    assert not reranking.requests
