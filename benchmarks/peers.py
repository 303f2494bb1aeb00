"""Hybrid search beside vector stores that search vectors alone: `make bench-peers`.

All get the same made-up chunks and questions, embedded before, and take turns, so that a busy machine slows all alike. A store
answers twice: with the ids of the hits, and with their texts and documents too, which Whence always reads. The stores live in
`.bench-venv`, so this file also runs there, as a script: it loads one store and then answers lines of JSON.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise, repeat
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

PYTHON = Path(".bench-venv/bin/python")
FOUND, CLIENTS, BATCH = 10, 8, 5_000
READY = "ready"

Vectors = NDArray[np.float32]
Ask = Callable[[Vectors, bool], list[int]]
"""Finds the nearest, and reads their texts if wanted."""
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


def chromadb(folder: Path, vectors: Vectors, texts: Sequence[str]) -> Ask:
    client = import_module("chromadb").PersistentClient(str(folder / "chromadb"))
    collection = client.get_or_create_collection("peers", metadata={"hnsw:space": "cosine"})
    for start in range(collection.count(), len(vectors), BATCH):
        some = range(start, min(start + BATCH, len(vectors)))
        collection.add(
            ids=[str(number) for number in some],
            embeddings=vectors[some.start : some.stop],
            documents=texts[some.start : some.stop],
            metadatas=[{"document": f"{number // 100}.txt", "chunk": number % 100} for number in some],
        )

    def ask(question: Vectors, read: bool) -> list[int]:
        include = ["distances", "documents", "metadatas"] if read else ["distances"]
        found = collection.query(query_embeddings=[question], n_results=FOUND, include=include)
        return [int(ident) for ident in found["ids"][0]]

    return ask


def lancedb(folder: Path, vectors: Vectors, texts: Sequence[str]) -> Ask:
    pa = import_module("pyarrow")
    column = pa.FixedSizeListArray.from_arrays(vectors.reshape(-1), vectors.shape[1])
    numbers = np.arange(len(vectors))
    rows = pa.table({"id": numbers, "vector": column, "text": texts, "document": numbers // 100})
    database = import_module("lancedb").connect(folder / "lancedb")
    table = database.create_table("peers", rows, exist_ok=True)
    if not table.list_indices():
        table.create_index("vector", config=import_module("lancedb.index").HnswSq(distance_type="cosine"))

    def ask(question: Vectors, read: bool) -> list[int]:
        wanted = ["id", "_distance", *(("text", "document") if read else ())]
        found = table.search(question).distance_type("cosine").limit(FOUND).select(wanted).to_arrow()
        return list(found.to_pydict()["id"])

    return ask


STORES: dict[str, Callable[[Path, Vectors, Sequence[str]], Ask]] = {"chromadb": chromadb, "lancedb": lancedb}


class Contender:
    """A way to search, by one process or by several at once, which answer lines of JSON."""

    def __init__(self, processes: "Sequence[subprocess.Popen[str]]", **asked: bool) -> None:
        self.processes, self._asked = processes, asked

    def ask(self, turn: int) -> tuple[float, float]:
        """Seconds, and from stores the share of the nearest ten that were found."""
        _send(self.processes[0], {"turn": turn, **self._asked})
        seconds, share = _receive(self.processes[0])
        return seconds, share

    def burst(self, start: int, end: int) -> Burst:
        """`CLIENTS` clients of each process ask these questions."""
        edges = np.linspace(start, end, len(self.processes) + 1).astype(int).tolist()
        began = time.perf_counter()
        for process, (low, high) in zip(self.processes, pairwise(edges), strict=True):
            _send(process, {"start": low, "end": high, **self._asked})
        cpu = sum(_receive(process)[1] for process in self.processes)
        return time.perf_counter() - began, cpu


def _send(process: "subprocess.Popen[str]", asked: dict[str, int]) -> None:
    assert process.stdin is not None
    print(json.dumps(asked), file=process.stdin, flush=True)


def _receive(process: "subprocess.Popen[str]") -> list[float]:
    assert process.stdout is not None
    found: list[float] = json.loads(process.stdout.readline())
    return found


@contextmanager
def started(command: Sequence[str]) -> "Iterator[subprocess.Popen[str]]":
    """A process that is ready to answer."""
    env = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # as the server has it
    with subprocess.Popen(
        command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            while (line := process.stdout.readline()) and line.strip() != READY:
                pass
            yield process
        finally:
            process.kill()


@contextmanager
def stores(
    names: Sequence[str], vectors: Vectors, texts: Sequence[str], questions: Vectors, folder: Path
) -> Iterator[dict[str, Contender]]:
    """Each store with these chunks, twice."""
    (folder / "texts.json").write_text(json.dumps(texts))
    np.save(folder / "vectors.npy", vectors)
    np.save(folder / "questions.npy", questions)
    with ExitStack() as stack:
        found = {}
        for name in names:
            process = stack.enter_context(started([str(PYTHON), __file__, name, str(folder)]))
            found[name] = Contender([process], read=False)
            found[f"{name} with texts"] = Contender([process], read=True)
        yield found


def main() -> None:
    name, folder = sys.argv[1], Path(sys.argv[2])
    vectors, questions = np.load(folder / "vectors.npy"), np.load(folder / "questions.npy")
    nearest = np.argsort(-(questions @ vectors.T), axis=1)[:, :FOUND].tolist()
    ask = STORES[name](folder, vectors, json.loads((folder / "texts.json").read_text()))
    del vectors
    with ThreadPoolExecutor(CLIENTS) as clients:
        list(clients.map(ask, questions, [True] * len(questions)))
        print(READY, flush=True)
        for line in sys.stdin:
            asked = json.loads(line)
            read = asked["read"]
            began, used = time.perf_counter(), time.process_time()
            if "turn" in asked:
                found = ask(questions[asked["turn"]], read)
                answer = [time.perf_counter() - began, len({*found} & {*nearest[asked["turn"]]}) / FOUND]
            else:
                list(clients.map(ask, questions[asked["start"] : asked["end"]], repeat(read)))
                answer = [time.perf_counter() - began, time.process_time() - used]
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
