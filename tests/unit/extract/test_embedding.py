"""Objects are embedded while they are written, where that takes moments; else before."""

import asyncio
from collections.abc import Sequence

import pytest

from whence.errors import EmbeddingUnavailable
from whence.extract.embedding import LITTLE, vectors_of
from whence.extract.links import Ref
from whence.providers import Embedded
from whence.providers.hashed import HashEmbedder

ONE, TWO = ("Thing", "one"), ("Thing", "two")
TEXTS: dict[Ref, str] = {ONE: "One Thing", TWO: "Two Thing"}


class Slow(HashEmbedder):
    """Embeds once it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.let = asyncio.Event()
        self.begun, self.done = False, False

    async def embed(self, texts: Sequence[str]) -> Embedded:
        self.begun = True
        await self.let.wait()
        embedded = await super().embed(texts)
        self.done = True
        return embedded


class Far(Slow):
    is_at_hand = False


async def test_each_object_has_the_vector_of_its_text() -> None:
    async with vectors_of(TEXTS, HashEmbedder()) as vectors:
        found = await vectors
    expected = (await HashEmbedder().embed(list(TEXTS.values()))).vectors.tolist()
    assert found == dict(zip(TEXTS, expected, strict=True))


async def test_who_is_at_hand_embeds_while_other_work_is_done() -> None:
    embedder = Slow()
    async with vectors_of(TEXTS, embedder) as vectors:
        assert (embedder.begun, embedder.done) == (True, False)
        embedder.let.set()
        assert len(await vectors) == 2


@pytest.mark.parametrize(
    ("embedder", "texts"), [(Far, TEXTS), (Slow, {ONE: "a" * LITTLE, TWO: "b"})], ids=["far", "much"]
)
async def test_nobody_holds_anything_while_it_may_take_long(
    embedder: type[Slow], texts: dict[Ref, str]
) -> None:
    slow = embedder()
    asyncio.get_running_loop().call_soon(slow.let.set)
    async with vectors_of(texts, slow) as vectors:
        assert slow.done
        assert len(await vectors) == 2


async def test_without_texts_nobody_embeds() -> None:
    async with vectors_of({}, None) as vectors:
        assert await vectors == {}


async def test_who_fails_does_so_where_the_vectors_are_wanted() -> None:
    class Broken(HashEmbedder):
        async def embed(self, texts: Sequence[str]) -> Embedded:
            raise EmbeddingUnavailable(details={"texts": len(texts)})

    async with vectors_of(TEXTS, Broken()) as vectors:
        with pytest.raises(EmbeddingUnavailable):
            await vectors


async def test_it_ends_with_the_work_beside_it() -> None:
    class StopError(Exception):
        pass

    async def stopped(beside: Slow) -> None:
        async with vectors_of(TEXTS, beside):
            raise StopError

    embedder = Slow()
    with pytest.raises(StopError):
        await stopped(embedder)
    assert embedder.begun
    assert len(asyncio.all_tasks()) == 1
    assert not embedder.done
