"""Hybrid search beside vector stores that search vectors alone: `make bench-peers`.

All get the same made-up vectors and questions. The stores live in `.bench-venv`, so this file also runs there, as a script: it loads
one store and prints its figures.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

PYTHON = Path(".bench-venv/bin/python")
FOUND, CLIENTS, BATCH = 10, 8, 5_000
_WARM = 10

Vectors = NDArray[np.float32]
Ask = Callable[[Vectors], list[int]]


@dataclass(frozen=True, slots=True)
class PeerFigures:
    milliseconds: float
    """Median of one search after the other."""
    per_second: float
    """Searches per second of `CLIENTS` clients at once."""
    recall: float
    """Share of the nearest ten that are found."""

    def __str__(self) -> str:
        return (
            f"{self.milliseconds:.1f} ms, {self.per_second:.0f} searches/s, recall@{FOUND} {self.recall:.3f}"
        )


def chromadb(folder: Path, vectors: Vectors) -> Ask:
    client = import_module("chromadb").PersistentClient(str(folder / "chromadb"))
    collection = client.create_collection("peers", metadata={"hnsw:space": "cosine"})
    for start in range(0, len(vectors), BATCH):
        some = vectors[start : start + BATCH]
        collection.add(ids=[str(start + at) for at in range(len(some))], embeddings=some)

    def ask(question: Vectors) -> list[int]:
        found = collection.query(query_embeddings=[question], n_results=FOUND, include=["distances"])
        return [int(ident) for ident in found["ids"][0]]

    return ask


def lancedb(folder: Path, vectors: Vectors) -> Ask:
    pa = import_module("pyarrow")
    column = pa.FixedSizeListArray.from_arrays(vectors.reshape(-1), vectors.shape[1])
    rows = pa.table({"id": np.arange(len(vectors)), "vector": column})
    table = import_module("lancedb").connect(folder / "lancedb").create_table("peers", rows)
    table.create_index("vector", config=import_module("lancedb.index").HnswSq(distance_type="cosine"))

    def ask(question: Vectors) -> list[int]:
        found = (
            table.search(question).distance_type("cosine").limit(FOUND).select(["id", "_distance"]).to_arrow()
        )
        return list(found["id"].to_pylist())

    return ask


STORES: dict[str, Callable[[Path, Vectors], Ask]] = {"chromadb": chromadb, "lancedb": lancedb}


def measure(ask: Ask, questions: Vectors, nearest: Sequence[Sequence[int]]) -> PeerFigures:
    for question in questions[:_WARM]:
        ask(question)
    times, shares = [], []
    for question, right in zip(questions, nearest, strict=True):
        began = time.perf_counter()
        found = ask(question)
        times.append(time.perf_counter() - began)
        shares.append(len({*found} & {*right}) / FOUND)
    began = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as clients:
        list(clients.map(ask, questions))
    per_second = len(questions) / (time.perf_counter() - began)
    return PeerFigures(statistics.median(times) * 1e3, per_second, statistics.mean(shares))


def beside(vectors: Vectors, questions: Vectors, folder: Path) -> dict[str, PeerFigures]:
    """The figures of each store."""
    np.save(folder / "vectors.npy", vectors)
    np.save(folder / "questions.npy", questions)
    figures = {}
    for name in STORES:
        run = [str(PYTHON), __file__, name, str(folder)]
        done = subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True)
        figures[name] = PeerFigures(**json.loads(done.stdout.splitlines()[-1]))
    return figures


def main() -> None:
    name, folder = sys.argv[1], Path(sys.argv[2])
    vectors, questions = np.load(folder / "vectors.npy"), np.load(folder / "questions.npy")
    nearest = np.argsort(-(questions @ vectors.T), axis=1)[:, :FOUND].tolist()
    ask = STORES[name](folder, vectors)
    print(json.dumps(asdict(measure(ask, questions, nearest))))


if __name__ == "__main__":
    main()
