"""What every reranker has to do, tried against a server on loopback."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.loopback import closed_port, garbage, hang_up, status
from tests.rerank_endpoint import RerankEndpoint, answering, ok, tei

from whence.errors import RerankError, SettingsError
from whence.providers import Reranker, open_reranker
from whence.settings import Secret, Settings

TEXTS = ["nothing here", "the harbour ledger", "the ledger", "a lone \ud800 surrogate", ""]


def opened(url: str) -> Reranker:
    reranker = open_reranker(
        Settings(rerank_base_url=url, rerank_model="test", rerank_api_key=Secret("sk-rerank"))
    )
    assert reranker is not None
    return reranker


@pytest.fixture(params=[ok, tei], ids=["documents", "texts"])
async def endpoint(request: pytest.FixtureRequest) -> AsyncIterator[RerankEndpoint]:
    with RerankEndpoint(request.param) as server:
        yield server


@pytest.fixture
async def reranker(endpoint: RerankEndpoint) -> AsyncIterator[Reranker]:
    made = opened(endpoint.url)
    yield made
    await made.aclose()


async def test_fits_the_protocol(reranker: Reranker) -> None:
    assert isinstance(reranker, Reranker)
    assert reranker.model == "test"
    assert "test" in await reranker.check()


async def test_scores_are_in_the_order_of_the_texts(reranker: Reranker, endpoint: RerankEndpoint) -> None:
    for _ in range(2):
        assert await reranker.rerank("harbour ledger", TEXTS) == [0, 2, 1, 0, 0]
    assert endpoint.requests[-1].headers["authorization"] == "Bearer sk-rerank"


async def test_the_form_of_the_request_is_learnt_once(reranker: Reranker, endpoint: RerankEndpoint) -> None:
    for _ in range(3):
        await reranker.rerank("ledger", TEXTS)
    assert len(endpoint.requests) <= 4


async def test_no_texts_need_no_request(reranker: Reranker, endpoint: RerankEndpoint) -> None:
    assert await reranker.rerank("ledger", []) == []
    assert not endpoint.requests


@pytest.mark.parametrize(
    "body",
    [
        {"results": [{"index": 0, "relevance_score": 1}]},
        {"results": [{"index": 0, "relevance_score": 1}, {"index": 2, "relevance_score": 1}]},
        {"results": [{"index": 0}, {"index": 1}]},
        {"results": "none"},
        {"data": []},
        [1, 2],
    ],
)
async def test_an_answer_that_is_none(body: Any) -> None:
    with RerankEndpoint(answering(body)) as server:
        reranker = opened(server.url)
        with pytest.raises(RerankError):
            await reranker.rerank("ledger", ["one", "two"])
        await reranker.aclose()


@pytest.mark.parametrize("behaviour", [status(401), status(400), status(503), garbage(), hang_up])
async def test_a_failing_endpoint(behaviour: Any) -> None:
    with RerankEndpoint(behaviour) as server:
        reranker = opened(server.url)
        with pytest.raises(RerankError) as raised:
            await reranker.rerank("ledger", ["one"])
        assert "sk-rerank" not in str(raised.value.details) + raised.value.message
        await reranker.aclose()


async def test_nobody_there() -> None:
    reranker = opened(f"http://127.0.0.1:{closed_port()}")
    with pytest.raises(RerankError):
        await reranker.rerank("ledger", ["one"])
    await reranker.aclose()


@pytest.mark.parametrize(
    "settings", [Settings(rerank_model="test"), Settings(rerank_base_url="http://127.0.0.1:1")]
)
def test_half_a_setting(settings: Settings) -> None:
    with pytest.raises(SettingsError):
        open_reranker(settings)


def test_none_is_configured() -> None:
    assert open_reranker(Settings()) is None
