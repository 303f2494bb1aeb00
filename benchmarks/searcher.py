"""Searches in a process of its own, for `benchmarks/peers.py`: python -m benchmarks.searcher DSN PROJECT DIMENSIONS ROUNDS

Answers lines of JSON as the other stores do.
"""

import asyncio
import json
import sys
import time
from uuid import UUID

import uvloop
from benchmarks.invention import Bench, opened
from benchmarks.peers import CLIENTS, READY

from whence.search import Question


async def answer(bench: Bench, project_id: UUID, rounds: int) -> None:
    questions = [bench.invention.question() for _ in range(rounds)]
    await bench.held(project_id)
    searches = {True: bench.search, False: bench.searching(memory=0)}
    gate = asyncio.Semaphore(CLIENTS)

    async def ask(turn: int, asked: dict[str, object]) -> None:
        question = Question(
            query=questions[turn % rounds],
            mode="vector" if asked["vectors"] else "text" if asked["text"] else "hybrid",
            floor=False,
        )
        async with gate:
            await searches[bool(asked["memory"])].find(project_id, question)

    for memory in searches:  # all questions once, as the other stores are asked
        await asyncio.gather(
            *(ask(turn, {"vectors": 0, "text": 0, "memory": memory}) for turn in range(rounds))
        )
    print(READY, flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        asked = json.loads(line)
        began, used = time.perf_counter(), time.process_time()
        if "turn" in asked:
            await ask(asked["turn"], asked)
        else:
            await asyncio.gather(*(ask(turn, asked) for turn in range(asked["start"], asked["end"])))
        print(json.dumps([time.perf_counter() - began, time.process_time() - used]), flush=True)


def main() -> None:
    dsn, project, dimensions, rounds = sys.argv[1:]
    uvloop.run(opened(dsn, lambda bench: answer(bench, UUID(project), int(rounds)), int(dimensions)))


if __name__ == "__main__":
    main()
