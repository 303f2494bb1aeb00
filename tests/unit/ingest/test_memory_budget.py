"""How much text is in hand at the same time."""

import asyncio
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from whence.ingest.run import SMALL, Room

SIZE = 10 * SMALL


class Hand:
    """Holds each text until it is told to let it go."""

    def __init__(self) -> None:
        self.held: list[int] = []
        self._room = Room(SIZE)
        self._let_go: dict[int, asyncio.Event] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}

    async def take(self, *lengths: int) -> None:
        for length in lengths:
            self._let_go[length] = asyncio.Event()
            self._tasks[length] = asyncio.create_task(self._hold(length))
        await _settled()

    async def let_go(self, *lengths: int) -> None:
        for length in lengths:
            self._let_go[length].set()
        await _settled()

    async def give_up(self, length: int) -> None:
        self._tasks[length].cancel()
        await _settled()

    async def _hold(self, length: int) -> None:
        async with self._room.taken(length):
            self.held.append(length)
            try:
                await self._let_go[length].wait()
            finally:
                self.held.remove(length)


async def _settled() -> None:
    """Everyone waits for something, or is done."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_small_texts_need_no_room() -> None:
    hand = Hand()
    await hand.take(SIZE, *range(SMALL - 100, SMALL))
    assert hand.held == [SIZE, *range(SMALL - 100, SMALL)]


async def test_a_text_that_is_too_large_is_alone() -> None:
    hand = Hand()
    await hand.take(3 * SIZE, SMALL)
    assert hand.held == [3 * SIZE]
    await hand.let_go(3 * SIZE)
    assert hand.held == [SMALL]


async def test_who_asks_first_gets_room_first() -> None:
    hand = Hand()
    await hand.take(6 * SMALL, SIZE, 2 * SMALL)
    assert hand.held == [6 * SMALL], "there were room for the last, but not for the one before"
    await hand.let_go(6 * SMALL)
    assert hand.held == [SIZE]
    await hand.let_go(SIZE)
    assert hand.held == [2 * SMALL]


async def test_who_gives_up_is_not_waited_for() -> None:
    hand = Hand()
    await hand.take(6 * SMALL, SIZE, 2 * SMALL)
    await hand.give_up(SIZE)
    assert hand.held == [6 * SMALL, 2 * SMALL]
    await hand.give_up(6 * SMALL)
    await hand.take(8 * SMALL)
    assert hand.held == [2 * SMALL, 8 * SMALL], "its room is there again"


@given(st.lists(st.integers(0, 2 * SIZE), max_size=12))
def test_the_large_ones_in_hand_have_room_together(lengths: Sequence[int]) -> None:
    room, held, done = Room(SIZE), list[int](), list[int]()

    async def work(length: int) -> None:
        async with room.taken(length):
            held.append(length)
            large = [each for each in held if each >= SMALL]
            assert sum(large) <= SIZE or len(large) == 1
            await asyncio.sleep(0)
            held.remove(length)
        done.append(length)

    async def all_of_them() -> None:
        await asyncio.gather(*map(work, lengths))

    asyncio.run(all_of_them())
    assert sorted(done) == sorted(lengths)
