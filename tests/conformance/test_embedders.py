"""What every embedder has to do. The one of endpoints is tried against a server on loopback."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import pytest_asyncio
from tests import endpoint
from tests.endpoint import Endpoint

from whence.providers import Embedded, Embedder, open_embedder
from whence.settings import Settings

if TYPE_CHECKING:
    from whence.providers.base import Vectors

EMBEDDERS = ("minilm", "openai", "hash")
TEXTS = [
    "A cat sat on the mat.",
    "The quarterly report was late again, and nobody knew why.",
    "x",
    "Ein Satz über Öl und Ähren.",
    "東京は日本の首都です。",
    "สวัสดีชาวโลก",
    "👩‍👩‍👧‍👦 🇩🇪 👍🏽",
    "مرحبا بالعالم",
    "def f(x):\n\treturn x ** 2\n",
    "[CLS] [SEP] [PAD] <|endoftext|>",
    "nul \x00 and \x1b escape",
    "a lone \ud800 surrogate",
    "",
    " ",
    "\n\t\u00a0\u2028",
    "https://example.org/" + "a" * 900,
]
LONG = " ".join(f"Sentence number {n} speaks of wheat and of barley." for n in range(150))


@pytest_asyncio.fixture(loop_scope="module", scope="module", params=EMBEDDERS)
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    """One for all tests, as a server has it: whatever a test leaves behind, the next has to live with."""
    with Endpoint() as server:
        opened = open_embedder(
            Settings(
                embedder=request.param,
                embedding_base_url=server.url,
                embedding_model="test" if request.param == "openai" else None,
                embedding_dimensions=endpoint.DIMENSIONS if request.param == "openai" else None,
            )
        )
        yield opened
        await opened.aclose()


def similarity(one: "Vectors", other: "Vectors") -> float:
    return float(np.dot(one, other))


def check(embedder: Embedder, texts: Sequence[str], found: Embedded) -> None:
    assert found.vectors.shape == (len(texts), embedder.dimensions)
    assert found.vectors.dtype == np.float32
    assert np.isfinite(found.vectors).all()
    assert np.linalg.norm(found.vectors, axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-5)
    assert len(found.token_counts) == len(texts)
    assert all(count is None or (type(count) is int and count >= 0) for count in found.token_counts)


@pytest.mark.asyncio(loop_scope="module")
class TestEmbedder:
    async def test_has_names_and_fits_the_protocol(self, embedder: Embedder) -> None:
        assert isinstance(embedder, Embedder)
        assert embedder.provider in EMBEDDERS
        assert embedder.model
        assert embedder.dimensions > 0
        assert type(embedder.is_at_hand) is bool

    async def test_nothing_comes_from_nothing(self, embedder: Embedder) -> None:
        check(embedder, [], await embedder.embed([]))

    @pytest.mark.parametrize("text", TEXTS)
    async def test_any_text(self, embedder: Embedder, text: str) -> None:
        check(embedder, [text], await embedder.embed([text]))

    async def test_many_texts(self, embedder: Embedder) -> None:
        texts = TEXTS[:-1] * 12  # more than go into one request
        check(embedder, texts, await embedder.embed(texts))

    async def test_in_the_order_of_the_texts(self, embedder: Embedder) -> None:
        texts = [
            f"{word} " * (n % 7 + 1) for n, word in enumerate(("wheat", "iron", "music", "law", "sea") * 20)
        ]
        there = (await embedder.embed(texts)).vectors
        back = (await embedder.embed(texts[::-1])).vectors[::-1]
        assert np.sum(there * back, axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-4)

    async def test_a_text_does_not_depend_on_its_mates(self, embedder: Embedder) -> None:
        together = await embedder.embed([*TEXTS, LONG])
        for n, text in enumerate([*TEXTS, LONG]):
            alone = await embedder.embed([text])
            assert similarity(alone.vectors[0], together.vectors[n]) >= 0.999
        again = await embedder.embed([*TEXTS, LONG])
        assert (again.vectors == together.vectors).all()
        assert again.token_counts == together.token_counts

    async def test_the_same_text_has_the_same_vector(self, embedder: Embedder) -> None:
        first, other, again = (await embedder.embed(["A first.", "Quite another.", "A first."])).vectors
        assert (first == again).all()
        assert similarity(first, other) < 0.99

    async def test_near_texts_are_nearer(self, embedder: Embedder) -> None:
        texts = [
            "The cat sat on the mat.",
            "A cat was sitting on the mat.",
            "Interest rates rose sharply in March.",
        ]
        first, near, far = (await embedder.embed(texts)).vectors
        assert similarity(first, near) > similarity(first, far) + 0.2

    @pytest.mark.parametrize("at", ["beginning", "middle", "end"])
    async def test_no_part_of_a_long_text_is_lost(self, embedder: Embedder, at: str) -> None:
        said = " Penguins play the piano in Lisbon, to everybody's delight. " * 3
        middle = len(LONG) // 2
        changed = {
            "beginning": said + LONG,
            "middle": LONG[:middle] + said + LONG[middle:],
            "end": LONG + said,
        }[at]
        plain, with_it, itself = (await embedder.embed([LONG, changed, said])).vectors
        assert 0.5 < similarity(plain, with_it) < 0.99999
        assert similarity(with_it, itself) > similarity(plain, itself)

    async def test_longer_texts_have_more_tokens(self, embedder: Embedder) -> None:
        short, longer, longest = [
            (await embedder.embed([text])).token_counts[0] for text in ("wheat", "wheat and barley", LONG)
        ]
        assert short is not None
        assert longer is not None
        assert longest is not None
        assert 0 < short < longer < 1000 < longest

    async def test_many_callers(self, embedder: Embedder) -> None:
        asked = [[f"Caller {n} asks.", "Everybody asks."] for n in range(12)]
        found = await asyncio.gather(*(embedder.embed(texts) for texts in asked))
        for texts, one in zip(asked, found, strict=True):
            check(embedder, texts, one)
            assert similarity(one.vectors[1], found[0].vectors[1]) >= 0.999
        assert similarity(found[0].vectors[0], found[11].vectors[0]) < 0.9999

    async def test_cancelled_it_stops_and_works_again(self, embedder: Embedder) -> None:
        running = asyncio.create_task(embedder.embed([f"{n} {LONG}" for n in range(3000)]))
        await asyncio.sleep(0.2)
        assert not running.done(), "it was too fast to be cancelled"
        running.cancel()
        async with asyncio.timeout(60):  # all of the texts would take minutes
            with pytest.raises(asyncio.CancelledError):
                await running
            check(embedder, ["Again."], await embedder.embed(["Again."]))

    async def test_others_get_their_turn_meanwhile(self, embedder: Embedder) -> None:
        turns = []
        running = asyncio.create_task(embedder.embed([LONG] * 3))
        while not running.done():
            before = (
                time.thread_time()
            )  # of this thread's own work: the machine may be busy with something else
            await asyncio.sleep(0.001)
            turns.append(time.thread_time() - before)
        await running
        assert max(turns, default=0) < 1

    async def test_it_says_that_it_works(self, embedder: Embedder) -> None:
        assert str(embedder.dimensions) in await embedder.check()


async def test_closing_twice() -> None:
    settings: dict[str, Any] = {"embedding_model": "test", "embedding_dimensions": 384}
    for name in EMBEDDERS:
        opened = open_embedder(Settings(embedder=name, **settings))  # type: ignore[arg-type]
        await opened.aclose()
        await opened.aclose()
