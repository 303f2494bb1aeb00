"""Background work in itself: failures are logged, counted, spaced out, and forgotten after a success."""

import asyncio
import logging
import multiprocessing
from functools import partial

import pytest

from whence import background as module
from whence.background import BackgroundWork
from whence.errors import DatabaseUnavailable
from whence.web.serve import WATCH, _stop_with

SECRET = "postgresql://admin:hunter2@db/whence"  # noqa: S105 - nobody's


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(module, "LONGEST_PAUSE", 0.002)


def fail(background: BackgroundWork, exc: Exception) -> None:
    with background.attempt("the test"):
        raise exc


def test_one_failure_is_logged_with_its_cause_and_not_yet_reported(caplog: pytest.LogCaptureFixture) -> None:
    background, error = BackgroundWork(), DatabaseUnavailable()
    error.__cause__ = OSError("connection refused\nand more")
    fail(background, error)
    assert background.failing == []
    (record,) = caplog.records
    assert record.getMessage() == "The test failed, the first time: connection refused"
    assert record.levelno == logging.WARNING
    assert record.exc_info is None


async def test_a_timeout_is_logged_as_one(caplog: pytest.LogCaptureFixture) -> None:
    background = BackgroundWork()
    with background.attempt("the test"):
        await asyncio.wait_for(asyncio.Event().wait(), 0.001)
    (record,) = caplog.records
    assert record.getMessage() == "The test failed, the first time: TimeoutError"


def test_a_name_that_keeps_failing_is_reported_until_it_succeeds() -> None:
    background = BackgroundWork()
    for _ in range(3):
        fail(background, DatabaseUnavailable())
    (failure,) = background.failing
    assert (failure.name, failure.times, failure.reason) == ("the test", 3, "The database does not answer")
    assert failure.since.tzinfo is not None
    with background.attempt("another"):
        pass
    assert background.failing == [failure]
    with background.attempt("the test"):
        pass
    assert background.failing == []


def test_the_stack_of_an_unexpected_error_is_logged_once_and_its_words_stay_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    background = BackgroundWork()
    for _ in range(2):
        fail(background, RuntimeError(f"cannot connect to {SECRET}"))
    assert [bool(record.exc_info) for record in caplog.records] == [True, False]
    (failure,) = background.failing
    assert failure.reason == "an unexpected error (RuntimeError); the log has the details"
    fail(background, LookupError("another"))
    assert caplog.records[-1].exc_info


def test_the_pause_grows_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE", 1.0)
    monkeypatch.setattr(module, "LONGEST_PAUSE", 60.0)
    background = BackgroundWork()
    assert background.pause("the test", every=5) == 5
    for longest in (1, 2, 4, 8, 16, 32, 60, 60):
        fail(background, OSError())
        assert longest / 2 <= background.pause("the test", every=5) <= longest
    for _ in range(2000):
        background.failed("the test", OSError())
    assert background.pause("the test", every=5) <= 60


async def test_a_loop_goes_on_after_failures() -> None:
    background, stopping, times = BackgroundWork(), asyncio.Event(), 0
    reported: list[int] = []

    async def work() -> None:
        nonlocal times
        times += 1
        reported.extend(failure.times for failure in background.failing)
        if times <= 3:
            raise RuntimeError("not yet")
        stopping.set()

    await background.repeat("the test", work, every=60, stopping=stopping)
    assert (times, reported, background.failing) == (4, [2, 3], [])


async def test_work_that_is_to_succeed_once_is_done_once() -> None:
    background, times = BackgroundWork(), 0

    async def work() -> None:
        nonlocal times
        times += 1
        if times < 3:
            raise RuntimeError("not yet")

    await background.repeat("the test", work, every=None, stopping=asyncio.Event())
    assert times == 3


async def test_a_loop_can_be_cancelled() -> None:
    background, begun = BackgroundWork(), asyncio.Event()

    async def work() -> None:
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(background.repeat("the test", work, every=0, stopping=asyncio.Event()))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_the_watch_on_the_parent_process_goes_on_when_it_fails() -> None:
    parent = multiprocessing.get_context("spawn").Process()
    parent.close()  # asked whether it is alive, it raises
    background, stopping = BackgroundWork(), asyncio.Event()
    watch = asyncio.create_task(
        background.repeat(WATCH, partial(_stop_with, parent, stopping), every=0, stopping=stopping)
    )
    while not (failing := background.failing) or failing[0].times < 3:  # noqa: ASYNC110 - nothing tells of it
        await asyncio.sleep(0.001)
    assert failing[0].name == WATCH
    stopping.set()
    await watch
