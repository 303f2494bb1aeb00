"""A question that names a document is answered from it, over HTTP."""

from typing import Any

import httpx
import pytest
from tests.api.ingesting import data_of, ingest, put

pytestmark = pytest.mark.one_app

COMPANIES = {
    "ulta_10k_2023.md": 11,
    "best_buy_10k_2023.md": 22,
    "costco_10k_2023.md": 33,
    "gap_10k_2023.md": 44,
}


def report(number: int) -> str:
    return (
        f"The company repurchased {number} million shares of its common stock under the program of its board."
    )


@pytest.fixture
async def documents(client: httpx.AsyncClient) -> dict[str, str]:
    """The ids of the reports. None names its company."""
    return {
        name: (await ingest(client, report(number), name=name))["documentId"]
        for name, number in COMPANIES.items()
    }


async def first(client: httpx.AsyncClient, query: str, **fields: Any) -> str:
    found = data_of(await client.post("/api/v1/search", json={"query": query, **fields}))
    assert found["notes"] == []  # no name of a document is corrected
    return str(found["items"][0]["chunk"]["content"])


@pytest.mark.usefixtures("documents")
@pytest.mark.parametrize("mode", ["text", "vector", "hybrid"])
async def test_ultas_repurchases_are_not_answered_from_another_report(
    client: httpx.AsyncClient, mode: str
) -> None:
    for company, number in (("Ulta", 11), ("Best Buy", 22), ("Costco", 33), ("Gap", 44)):
        assert await first(client, f"What were {company}'s repurchases of shares?", mode=mode) == report(
            number
        )


async def test_a_renamed_document_is_found_by_its_new_name(
    client: httpx.AsyncClient, documents: dict[str, str]
) -> None:
    await put(client, documents["gap_10k_2023.md"], name="old_navy_10k_2023.md")
    assert await first(client, "How many shares did Navy repurchase?") == report(44)


async def test_a_filter_outweighs_a_name(client: httpx.AsyncClient, documents: dict[str, str]) -> None:
    only = {"documentIds": [documents["costco_10k_2023.md"]]}
    assert await first(client, "How many shares did Ulta repurchase?", filters=only) == report(33)


@pytest.mark.usefixtures("documents")
async def test_a_word_of_every_name_hides_no_document(client: httpx.AsyncClient) -> None:
    plain, named = [
        [
            hit["chunk"]["id"]
            for hit in data_of(await client.post("/api/v1/search", json={"query": query}))["items"]
        ]
        for query in ("repurchased shares of common stock", "repurchased shares of common stock 10k 2023")
    ]
    assert set(plain) == set(named)
