"""How long the event loop does not turn. Counted in CPU time of this process, so the load of the machine does not count."""

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")

_TRIES = 3
_LIMIT = 10
"""References: about a quarter of a second on a machine of 2025. What is known to be slow takes a fifth of that."""


def reference() -> float:
    """Seconds of CPU for a fixed piece of work: the fastest of a few runs."""

    def run() -> float:
        began = time.thread_time()
        sum(number * number for number in range(400_000))
        return time.thread_time() - began

    return min(run() for _ in range(3))


async def longest_stall(ask: Callable[[], Awaitable[T]]) -> tuple[T, float]:
    """The answer, and the most CPU time between two turns of the loop, whichever thread took it."""
    worst = 0.0

    async def beat() -> None:
        nonlocal worst
        last = time.process_time()
        while True:
            await asyncio.sleep(0.001)
            now = time.process_time()
            worst, last = max(worst, now - last), now

    gc.disable()  # a collection visits everything that the tests before have left
    beating = asyncio.create_task(beat())
    try:
        await asyncio.sleep(0)
        answer = await ask()
        await asyncio.sleep(0.002)
    finally:
        beating.cancel()
        with suppress(asyncio.CancelledError):
            await beating
        gc.enable()
    return answer, worst


async def without_stall(ask: Callable[[], Awaitable[T]], usual: float) -> T:
    """The answer. Asks again after a stall, which fails only if the machine, measured anew, cannot explain it.

    `usual` is a `reference` from before.
    """
    answer, stall = await longest_stall(ask)
    for _ in range(_TRIES - 1):
        if stall <= _LIMIT * usual:
            return answer
        usual = max(usual, reference())
        answer, stall = await longest_stall(ask)
    assert stall <= _LIMIT * usual, (
        f"the loop stood still for {stall:.3f} s; the reference takes {usual:.3f} s"
    )
    return answer
