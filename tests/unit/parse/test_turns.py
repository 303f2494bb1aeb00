import asyncio
from contextlib import AsyncExitStack
from typing import Self

import pytest

from whence.parse.turns import Turns


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


class Line:
    """Documents of projects that ask for a turn and keep it until they are told to end."""

    def __init__(self, count: int) -> None:
        self.turns = Turns(count)
        self.served: list[str] = []
        self.ends: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def ask(self, *names: str) -> None:
        for name in names:
            self.ends[name] = asyncio.Event()
            self.tasks[name] = asyncio.create_task(self._parse(name))
        await settle()

    async def _parse(self, name: str) -> None:
        async with self.turns.turn(name[0]):
            self.served.append(name)
            await self.ends[name].wait()

    async def end(self, name: str) -> None:
        self.ends[name].set()
        await settle()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self.tasks.values():
            task.cancel()
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)


async def test_one_project_never_takes_the_last_process() -> None:
    async with Line(3) as line:
        await line.ask("a1", "a2", "a3", "a4")
        assert line.served == ["a1", "a2"]
        await line.ask("b1")
        assert line.served == ["a1", "a2", "b1"]
        await line.end("a1")
        assert line.served[3:] == ["a3"]


async def test_waiting_projects_take_turns() -> None:
    async with Line(1) as line:
        await line.ask("a1", "a2", "a3", "b1", "b2", "c1")
        for name in ("a1", "a2", "b1", "c1", "a3"):
            assert line.served[-1] == name
            await line.end(name)
        assert line.served[-1] == "b2"


async def test_who_gives_up_waiting_costs_nobody_a_turn() -> None:
    async with Line(1) as line:
        await line.ask("a1", "a2", "b1")
        line.tasks["b1"].cancel()
        line.tasks["a1"].cancel()
        await settle()
        assert line.served == ["a1", "a2"]


@pytest.mark.parametrize("count", [1, 2, 5])
async def test_every_turn_comes_back(count: int) -> None:
    turns = Turns(count)
    for _ in range(3):
        async with AsyncExitStack() as stack:
            for number in range(count):
                await stack.enter_async_context(turns.turn(number))
