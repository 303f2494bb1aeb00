"""Chunks embedded in a second: the local model as it comes, other ways to run it, and the hash that costs nothing.

    python -m benchmarks.embedding [--text FILE] [--chunks 64] [--rounds 5]

Ways take turns and the best round of each counts, so that a busy machine disturbs as little as possible. CPU is what
one core would do in a second of its own time: it varies less than the clock on a machine that is shared.
"""

import argparse
import asyncio
import itertools
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from whence.providers import minilm
from whence.providers.hashed import HashEmbedder
from whence.providers.minilm import CONTENT, MiniLMEmbedder

TEXT = Path(__file__).parents[1].parent / "shared" / "data" / "retrieval" / "corpora" / "wikitexts.md"
SIZES = (600, 1200)

Way = Callable[[list[str]], Awaitable[object]]


class Padded:
    """The usual way: one run on all cores, texts padded to the longest of their batch. Long texts are cut off."""

    def __init__(self, batch: int) -> None:
        options = onnxruntime.SessionOptions()
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        _, content = minilm._read_weights(None)  # noqa: SLF001 - the same weights
        self._session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        self._tokenizer = minilm._tokenizer()  # noqa: SLF001 - the same tokens
        self._batch = batch

    async def embed(self, texts: list[str]) -> None:
        found = self._tokenizer.encode_batch_fast(texts)
        ids = sorted((one.ids[: CONTENT + 2] for one in found), key=len)
        for start in range(0, len(ids), self._batch):
            self._run(ids[start : start + self._batch])

    def _run(self, batch: list[list[int]]) -> None:
        tokens = np.array(list(itertools.zip_longest(*batch, fillvalue=0)), dtype=np.int64).T.copy()
        lengths = np.array([len(ids) for ids in batch])
        mask = (np.arange(tokens.shape[1]) < lengths[:, None]).astype(np.int64)
        inputs = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        hidden: Any = self._session.run(None, inputs)[0]
        (hidden * mask[..., None]).sum(axis=1)


async def measure(ways: dict[str, Way], chunks: list[str], rounds: int) -> dict[str, tuple[float, float]]:
    """Seconds by the clock and of CPU, the best of each."""
    best: dict[str, tuple[float, float]] = {}
    for _ in range(rounds):
        for name, embed in ways.items():
            clock, cpu = time.perf_counter(), time.process_time()
            await embed(chunks)
            spent = (time.perf_counter() - clock, time.process_time() - cpu)
            best[name] = min(best.get(name, spent), spent)
    return best


async def first_vector() -> None:
    clock, embedder = time.perf_counter(), MiniLMEmbedder()
    await embedder.embed(["How long until there is a first vector?"])
    print(f"from nothing to the first vector: {time.perf_counter() - clock:.2f} s")
    await embedder.aclose()


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--text", type=Path, default=TEXT)
    parser.add_argument("--chunks", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    await first_vector()
    text = options.text.read_text(encoding="utf-8")
    cores = len(os.sched_getaffinity(0))
    ways: dict[str, Way] = {
        f"minilm, {cores} threads (the default)": MiniLMEmbedder().embed,
        "minilm, 1 thread": MiniLMEmbedder(threads=1).embed,
        **{f"one run on all cores, batch {n}": Padded(n).embed for n in (1, 8, 32)},
        "hash": HashEmbedder().embed,
    }
    for size in SIZES:
        chunks = [text[start : start + size] for start in range(0, options.chunks * size, size)]
        tokens = (await MiniLMEmbedder().embed(chunks)).token_counts
        mean = sum(count or 0 for count in tokens) / len(chunks)
        print(f"\n{len(chunks)} chunks of {size} characters, {mean:.0f} tokens on average")
        for name, (clock, cpu) in (await measure(ways, chunks, options.rounds)).items():
            print(f"  {name:34} {len(chunks) / clock:9.1f} chunks/s  {len(chunks) / cpu:9.1f} /s of CPU")


if __name__ == "__main__":
    asyncio.run(main())
