"""Endpoints that fail, each in its way: what is tried again, what is not, and what is said in the end."""

import asyncio
import logging
import time
import traceback
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import numpy as np
import pytest
from tests import endpoint
from tests.endpoint import Behaviour, Endpoint, closed_port, hang_up, ok, slow, status

from whence.errors import EmbeddingError, EmbeddingInvalid, EmbeddingRefused, EmbeddingUnavailable
from whence.providers.openai import OpenAIEmbedder
from whence.settings import Secret

KEY = "sk-hunter2-0123456789"


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with Endpoint() as running:
        yield running


@pytest.fixture
async def embedder(server: Endpoint) -> AsyncIterator[OpenAIEmbedder]:
    opened = connect(server.url)
    yield opened
    await opened.aclose()


def connect(url: str, **changed: Any) -> OpenAIEmbedder:
    options: dict[str, Any] = {
        "base_url": url,
        "api_key": Secret(KEY),
        "model": "test",
        "dimensions": endpoint.DIMENSIONS,
        "timeout": 5,
        "attempts": 3,
        "backoff": 0.001,
    }
    return OpenAIEmbedder(**{**options, **changed})


async def failure(embedder: OpenAIEmbedder) -> EmbeddingError:
    with pytest.raises(EmbeddingError) as error:
        await embedder.embed(["one", "two"])
    await embedder.aclose()
    return error.value


async def test_the_request(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    embedder = connect(server.url)
    await embedder.embed(["one", "two"])
    await embedder.aclose()
    (request,) = server.requests
    assert request.body == {
        "model": "test",
        "input": ["one", "two"],
        "encoding_format": "float",
        "dimensions": endpoint.DIMENSIONS,
    }
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert not [name for name in request.headers if name.startswith("openai-")]


async def test_no_key(server: Endpoint) -> None:
    embedder = connect(server.url, api_key=None)
    await embedder.embed(["one"])
    assert "authorization" not in server.requests[0].headers
    server.script(status(401))
    error = await failure(embedder)
    assert "is needed and not set (401): see WHENCE_EMBEDDING_API_KEY" in error.message


@pytest.mark.parametrize("answers", [endpoint.in_base64, endpoint.backwards, endpoint.uncounted])
async def test_ways_to_answer(server: Endpoint, embedder: OpenAIEmbedder, answers: Behaviour) -> None:
    texts = [f"text {n}" for n in range(5)]
    expected = await embedder.embed(texts)
    server.script(answers)
    found = await embedder.embed(texts)
    assert found.vectors == pytest.approx(expected.vectors, abs=1e-6)


async def test_indexes_that_say_nothing(server: Endpoint, embedder: OpenAIEmbedder) -> None:
    expected = (await embedder.embed(["one", "two"])).vectors
    body = server.default(server.requests[0])
    assert isinstance(body, endpoint.Reply)
    server.script(endpoint.garbage(body.body.replace(b'"index": 1', b'"index": 0')))
    assert (await embedder.embed(["one", "two"])).vectors == pytest.approx(expected)


@pytest.mark.parametrize("failing", [status(429), status(500), status(503), status(408), hang_up])
async def test_what_is_tried_again(server: Endpoint, embedder: OpenAIEmbedder, failing: Behaviour) -> None:
    server.script(failing, failing)
    assert (await embedder.embed(["one"])).vectors.shape == (1, endpoint.DIMENSIONS)
    assert len(server.requests) == 3


@pytest.mark.parametrize("code", [429, 500, 502, 503, 529])
async def test_when_the_attempts_are_used_up(server: Endpoint, code: int) -> None:
    server.default = status(code, message=f"not with {KEY}")
    error = await failure(connect(server.url))
    assert isinstance(error, EmbeddingUnavailable)
    assert error.details == {"status": code, "attempts": 3}
    assert error.message == f"The embedding endpoint answered {code}"
    assert len(server.requests) == 3


async def test_nobody_there() -> None:
    error = await failure(connect(f"http://127.0.0.1:{closed_port()}/v1"))
    assert isinstance(error, EmbeddingUnavailable)
    assert error.message == "The embedding endpoint cannot be reached"
    assert error.details == {"attempts": 3}


async def test_too_slow(server: Endpoint) -> None:
    server.default = slow(60)
    started = time.monotonic()
    error = await failure(connect(server.url, timeout=0.2, attempts=2))
    assert isinstance(error, EmbeddingUnavailable)
    assert error.message == "The embedding endpoint did not answer within 0.2 s"
    assert time.monotonic() - started < 60


@pytest.mark.parametrize("form", ["seconds", "date"])
async def test_retry_after(server: Endpoint, embedder: OpenAIEmbedder, form: str) -> None:
    await embedder.embed(["so that everything is loaded"])
    until = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    server.script(status(429, retry_after="1" if form == "seconds" else until))
    await embedder.embed(["one"])
    first, second = server.requests[1:]
    assert 0.9 < second.at - first.at < 5


@pytest.mark.parametrize("code", [400, 401, 403, 404, 413, 422])
async def test_what_is_not_tried_again(server: Endpoint, code: int) -> None:
    embedder = connect(server.url)
    await embedder.embed(["one"])
    server.default = status(code, message=f"not with {KEY}")
    error = await failure(embedder)
    assert isinstance(error, EmbeddingRefused)
    assert error.details == {"status": code, "attempts": 1}
    assert str(code) in error.message
    assert "WHENCE_EMBEDDING_" in error.message
    assert len(server.requests) == 2


async def test_a_key_is_never_repeated(server: Endpoint, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for code in (400, 401, 403, 429, 500):
        server.default = status(code, message=f"Incorrect API key provided: {KEY}")
        error = await failure(connect(server.url, attempts=2))
        told = "".join(traceback.format_exception(error)) + repr(error.details)
        assert KEY not in told
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("whence")]
    assert [line for line in ours if "Incorrect API key" in line], "at this level the reason is told"
    assert not [line for line in ours if KEY in line]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (endpoint.of_size(32), "32 dimensions, and WHENCE_EMBEDDING_DIMENSIONS is 64"),
        (endpoint.one_too_few, "the wrong number of vectors"),
        (endpoint.filled_with(float("nan")), ""),
        (endpoint.filled_with(1e300), "not finite"),
        (endpoint.filled_with(0), "a vector of zeros"),
        (endpoint.filled_with("x"), "not what the protocol says"),
        (endpoint.filled_with([1]), "not what the protocol says"),
        (endpoint.garbage(), "not what the protocol says"),
        (endpoint.garbage(b""), "not what the protocol says"),
        (endpoint.garbage(b"null"), "not what the protocol says"),
        (endpoint.garbage(b'{"data": null}'), "not what the protocol says"),
        (endpoint.garbage(b'{"data": [1, 2]}'), "not what the protocol says"),
        (endpoint.garbage(b'{"data": [{}, {}]}'), "not what the protocol says"),
        (endpoint.garbage(b'{"data": [{"embedding": "%%%"}]}'), "not what the protocol says"),
        (endpoint.garbage(b'{"data": [{"embedding": "QUI="}]}'), "not what the protocol says"),
        (endpoint.garbage(b'{"data": {"a": 1}}'), "not what the protocol says"),
    ],
)
async def test_answers_that_are_wrong(server: Endpoint, wrong: Behaviour, says: str) -> None:
    server.default = wrong
    error = await failure(connect(server.url, attempts=5))
    assert isinstance(error, EmbeddingInvalid)
    assert says in error.message
    assert error.details["attempts"] == len(server.requests) == 2


async def test_an_answer_that_is_wrong_once(server: Endpoint, embedder: OpenAIEmbedder) -> None:
    server.script(endpoint.garbage())
    assert (await embedder.embed(["one"])).vectors.shape == (1, endpoint.DIMENSIONS)


async def test_an_endpoint_that_does_not_take_dimensions(server: Endpoint, embedder: OpenAIEmbedder) -> None:
    server.default = endpoint.one_size_only
    await asyncio.gather(*(embedder.embed([f"text {n}"]) for n in range(4)))
    await embedder.embed(["again"])
    assert "dimensions" not in server.requests[-1].body
    assert len(server.requests) == 9, "learnt: not asked again"


async def test_a_refusal_is_not_taken_for_that(server: Endpoint, embedder: OpenAIEmbedder) -> None:
    server.script(status(400), status(400))
    with pytest.raises(EmbeddingRefused):
        await embedder.embed(["too long"])
    await embedder.embed(["one"])
    assert server.requests[-1].body["dimensions"] == endpoint.DIMENSIONS


async def test_batches_and_how_many_at_once(server: Endpoint) -> None:
    server.default = slow(0.05)
    embedder = connect(server.url, batch=4, concurrency=3)
    texts = [f"text {n}" for n in range(50)]
    await asyncio.gather(embedder.embed(texts), embedder.embed(texts))
    await embedder.aclose()
    assert max(len(request.inputs) for request in server.requests) == 4
    assert len(server.requests) == 2 * 13
    assert server.most_at_once == 3


async def test_one_failure_stops_the_rest(server: Endpoint) -> None:
    embedder = connect(server.url, batch=1, concurrency=2)
    await embedder.embed(["one"])
    server.script(slow(0.1), status(400), *[slow(0.1)] * 100)
    with pytest.raises(EmbeddingRefused):
        await embedder.embed([f"text {n}" for n in range(100)])
    await embedder.aclose()
    assert len(server.requests) < 6


async def test_tokens_add_up(server: Endpoint, embedder: OpenAIEmbedder) -> None:
    texts = ["one", "one two three", "", "vier fünf " * 100]
    found = await embedder.embed(texts)
    assert sum(count or 0 for count in found.token_counts) == 1 + 3 + 1 + 200
    assert (await embedder.embed(["one two three"])).token_counts == [3]
    server.script(endpoint.uncounted)
    assert (await embedder.embed(["one", "two"])).token_counts == [None, None]


async def test_long_texts_go_in_windows(server: Endpoint) -> None:
    embedder = connect(server.url, max_bytes=200)
    text = " ".join(f"wort-{n}-größer" for n in range(200))
    found = await embedder.embed([text, "short"])
    await embedder.aclose()
    sent = [piece for request in server.requests for piece in request.inputs]
    assert "".join(sent) == text + "short"
    assert max(len(piece.encode()) for piece in sent) <= 200
    assert np.linalg.norm(found.vectors, axis=1) == pytest.approx([1, 1], abs=1e-6)


async def test_blank_texts_are_not_sent_as_such(server: Endpoint, embedder: OpenAIEmbedder) -> None:
    await embedder.embed(["", " \n", "one"])
    assert server.requests[0].inputs == [".", ".", "one"]


async def test_a_check_asks_once(server: Endpoint, embedder: OpenAIEmbedder) -> None:
    assert await embedder.check() == f"test at {server.url} answers with 64 dimensions"
    server.default = ok
    assert len(server.requests) == 1
