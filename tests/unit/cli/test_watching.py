"""Changes as they happen, in real folders."""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest

from whence import background
from whence.cli import watching as module
from whence.cli.files import FoundFile, Selection
from whence.cli.watching import Changes as Found
from whence.cli.watching import Snapshot, look, watch

SECONDS = 60


class Changes:
    """What a watch has told so far."""

    def __init__(self, watching: AsyncGenerator[Found, None]) -> None:
        self._watching = watching

    async def next(self) -> list[tuple[str, str]]:
        batch = await asyncio.wait_for(anext(self._watching), SECONDS)
        changed = [("changed", file.name) for file in batch.changed]
        return changed + [("deleted", file.name) for file in batch.deleted]


@asynccontextmanager
async def watching(*paths: Path, exclude: tuple[str, ...] = ()) -> AsyncIterator[Changes]:
    """Whatever happens inside the block happens after the look that the watch begins with."""
    selection = Selection(paths=paths, exclude=exclude)
    async with aclosing(watch(selection, since=look(selection))) as changes:
        yield Changes(changes)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAUSE", 0.05)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("one")
    return folder


async def test_added_modified_deleted(folder: Path) -> None:
    async with watching(folder) as changes:
        (folder / "b.md").write_text("new")
        assert await changes.next() == [("changed", "b.md")]
        (folder / "a.md").write_text("two, and longer")
        assert await changes.next() == [("changed", "a.md")]
        (folder / "b.md").unlink()
        assert await changes.next() == [("deleted", "b.md")]


async def test_since_an_earlier_look(folder: Path) -> None:
    selection = Selection(paths=[folder])
    before = look(selection)
    assert [found.name for found in before.found] == ["a.md"]
    (folder / "while-busy.md").write_text("x")
    async with aclosing(watch(selection, since=before)) as changes:
        batch = await asyncio.wait_for(anext(changes), SECONDS)
    assert batch.changed == [FoundFile(path=folder / "while-busy.md", name="while-busy.md")]


async def test_a_burst_is_one_list(folder: Path) -> None:
    async with watching(folder) as changes:
        (folder / "first.md").write_text("x")
        assert await changes.next() == [("changed", "first.md")]
        for number in range(20):
            (folder / f"{number:02}.md").write_text("x")
        assert await changes.next() == [("changed", f"{number:02}.md") for number in range(20)]


async def test_what_is_not_meant_says_nothing(folder: Path) -> None:
    (folder / ".gitignore").write_text("*.log\n")
    async with watching(folder, exclude=("*.tmp",)) as changes:
        (folder / ".git").mkdir()
        for name in (".git/index", ".hidden", "a.log", "a.tmp"):
            (folder / name).write_text("x")
        await asyncio.sleep(0.2)
        (folder / "b.md").write_text("x")
        assert await changes.next() == [("changed", "b.md")]


async def test_an_ignore_file_that_changes(folder: Path) -> None:
    (folder / ".whenceignore").write_text("*.txt\n")
    (folder / "b.txt").write_text("x")
    async with watching(folder) as changes:
        (folder / ".whenceignore").write_text("*.md\n")
        assert await changes.next() == [("changed", "b.txt"), ("deleted", "a.md")]


async def test_a_folder_that_is_moved_in_and_out(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "deep/b.md").write_text("x")
    async with watching(folder) as changes:
        outside.rename(folder / "inside")
        assert await changes.next() == [("changed", "inside/deep/b.md")]
        (folder / "inside/deep/b.md").write_text("longer")
        assert await changes.next() == [("changed", "inside/deep/b.md")]
        (folder / "inside").rename(outside)
        assert await changes.next() == [("deleted", "inside/deep/b.md")]


async def test_a_file_that_is_replaced_again_and_again(folder: Path) -> None:
    """As editors do: the new text is written beside the file and then takes its name."""
    file = folder / "a.md"
    async with watching(file) as changes:
        for number in range(3):
            (folder / "a.md~").write_text("x" * number)
            (folder / "a.md~").replace(file)
            assert await changes.next() == [("changed", "a.md")]
        file.unlink()
        assert await changes.next() == [("deleted", "a.md")]
        file.write_text("back")
        assert await changes.next() == [("changed", "a.md")]


async def test_a_folder_that_goes_away_was_not_emptied(folder: Path, tmp_path: Path) -> None:
    async with watching(folder) as changes:
        folder.rename(tmp_path / "unmounted")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2.5):
                await changes.next()
    async with watching(folder, tmp_path / "unmounted") as changes:
        (tmp_path / "unmounted/b.md").write_text("x")
        assert await changes.next() == [("changed", "b.md")]


async def test_relative_paths(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    async with watching(Path("docs")) as changes:
        os.utime(folder / "a.md", ns=(1, 1))
        assert await changes.next() == [("changed", "a.md")]


async def test_a_file_that_keeps_changing_does_not_hold_up_the_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = iter(range(10, 1000))

    def look_and_write(selection: Selection) -> Snapshot:
        (folder / "a.md").write_text("x" * next(sizes))
        return look(selection)

    async with watching(folder) as changes:
        monkeypatch.setattr(module, "look", look_and_write)
        (folder / "b.md").write_text("new")
        assert await changes.next() == [("changed", "a.md"), ("changed", "b.md")]


async def test_a_look_that_fails_is_tried_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failures = [OSError("Too many open files")] * 2

    def fail_first(selection: Selection) -> Snapshot:
        if failures:
            raise failures.pop()
        return look(selection)

    monkeypatch.setattr(background, "FIRST_PAUSE", 0.01)
    async with watching(folder) as changes:
        monkeypatch.setattr(module, "look", fail_first)
        (folder / "b.md").write_text("new")
        assert await changes.next() == [("changed", "b.md")]
    assert not failures
