"""Hybrid search beside vector stores that search vectors alone: `make bench-peers`.

All get the same made-up vectors and questions and take turns, so that a busy machine slows all alike. The stores live in `.bench-venv`,
so this file also runs there, as a script: it loads one store and then answers lines of JSON.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

PYTHON = Path(".bench-venv/bin/python")
FOUND, CLIENTS, BATCH = 10, 8, 5_000
_READY = "ready"

Vectors = NDArray[np.float32]
Ask = Callable[[Vectors], list[int]]
Burst = tuple[float, float]
"""Seconds, and seconds of processor time."""


@dataclass(frozen=True, slots=True)
class PeerFigures:
    milliseconds: float
    """Median of one search after the other."""
    per_second: float
    """Searches per second of `CLIENTS` clients at once."""
    cpu: float
    """Milliseconds of processor time of one search, in all its processes: the other figures suffer on a busy machine."""
    recall: float
    """Share of the nearest ten that are found."""

    def __str__(self) -> str:
        return f"{self.milliseconds:.1f} ms, {self.per_second:.0f} searches/s, {self.cpu:.1f} ms of CPU, recall@{FOUND} {self.recall:.3f}"


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


class Peer:
    """A store in a process of its own."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def ask(self, turn: int) -> tuple[float, float]:
        """Seconds, and the share of the nearest ten that were found."""
        seconds, share = self._answer({"turn": turn})
        return seconds, share

    def burst(self) -> Burst:
        """`CLIENTS` clients ask all questions."""
        seconds, cpu = self._answer({})
        return seconds, cpu

    def wait(self) -> None:
        """Waits until the store is loaded."""
        assert self._process.stdout is not None
        while (line := self._process.stdout.readline()) and line.strip() != _READY:
            pass

    def _answer(self, asked: dict[str, int]) -> list[float]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        found: list[float] = json.loads(self._process.stdout.readline())
        return found


@contextmanager
def opened(vectors: Vectors, questions: Vectors, folder: Path) -> Iterator[dict[str, Peer]]:
    """Each store with these vectors."""
    np.save(folder / "vectors.npy", vectors)
    np.save(folder / "questions.npy", questions)
    with ExitStack() as stack:
        peers = {}
        for name in STORES:
            run = [str(PYTHON), __file__, name, str(folder)]
            process = subprocess.Popen(run, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            stack.enter_context(process)
            stack.callback(process.kill)
            peers[name] = Peer(process)
            peers[name].wait()
        yield peers


def figures(times: Sequence[float], bursts: Sequence[Burst], recall: float, questions: int) -> PeerFigures:
    seconds, cpu = map(statistics.median, zip(*bursts, strict=True))
    return PeerFigures(statistics.median(times) * 1e3, questions / seconds, cpu / questions * 1e3, recall)


def main() -> None:
    name, folder = sys.argv[1], Path(sys.argv[2])
    vectors, questions = np.load(folder / "vectors.npy"), np.load(folder / "questions.npy")
    nearest = np.argsort(-(questions @ vectors.T), axis=1)[:, :FOUND].tolist()
    ask = STORES[name](folder, vectors)
    del vectors
    print(_READY, flush=True)
    for line in sys.stdin:
        turn = json.loads(line).get("turn")
        began, used = time.perf_counter(), time.process_time()
        if turn is None:
            with ThreadPoolExecutor(CLIENTS) as clients:
                list(clients.map(ask, questions))
            answer = [time.perf_counter() - began, time.process_time() - used]
        else:
            found = ask(questions[turn])
            answer = [time.perf_counter() - began, len({*found} & {*nearest[turn]}) / FOUND]
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
