"""Freed memory goes back to the system now and then; a failure does not end that."""

import asyncio
import ctypes
import gc
from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from whence import background
from whence.background import BackgroundWork
from whence.web import serve

if TYPE_CHECKING:
    from whence.app import App


@pytest.fixture(autouse=True)
def usual_collector() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)


async def test_it_is_tried_again_after_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    attempts: list[Any] = []
    third = asyncio.Event()
    loop = asyncio.get_running_loop()

    def no_library(name: object) -> None:
        attempts.append(name)
        if len(attempts) == 3:
            loop.call_soon_threadsafe(third.set)
        raise OSError("no such library")

    monkeypatch.setattr(ctypes, "CDLL", no_library)
    monkeypatch.setattr(background, "FIRST_PAUSE", 0.001)
    work = BackgroundWork()
    async with serve._tune_memory(cast("App", SimpleNamespace(background=work))):
        await third.wait()
    assert [failure.name for failure in work.failing] == [serve.RELEASE]
