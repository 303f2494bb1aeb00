"""Watches the files of a selection for changes.

The system's notices only say *when* to look. Comparing two snapshots shows *what* changed. So moved folders, files
that an editor replaces instead of writing, and changed ignore files are all handled, and the next notice makes up for
a lost one.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from whence.background import Background
from whence.cli.files import IGNORE_FILES, FoundFile, Selection, Skipped, find

_QUIET_MS = 200
_LOOK_AGAIN_MS = 1_000

WATCHING = "watching for changes"
"""Name of this background task."""

_Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    kind: Literal["added", "modified", "deleted"]
    path: Path
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The files of a selection at one moment."""

    files: dict[Path, tuple[FoundFile, _Stamp]]
    skipped: tuple[Skipped, ...] = ()

    @property
    def found(self) -> list[FoundFile]:
        return [found for found, _ in self.files.values()]


def look(selection: Selection) -> Snapshot:
    files: dict[Path, tuple[FoundFile, _Stamp]] = {}
    skipped: list[Skipped] = []
    for item in find(selection):
        if isinstance(item, Skipped):
            skipped.append(item)
            continue
        try:
            status = item.path.stat()
        except OSError:  # removed since; counts as deleted
            continue
        files[item.path] = item, (status.st_mtime_ns, status.st_size, status.st_ino)
    return Snapshot(files=files, skipped=tuple(skipped))


async def watch(
    selection: Selection,
    *,
    since: Snapshot,
    debounce_ms: int = 1_600,
    background: Background | None = None,
) -> AsyncGenerator[list[Change], None]:
    """Yields lists of changes after `since`, without end.

    A burst of changes is one list, yielded after a quiet moment or after `debounce_ms`.
    """
    before, background = since, background or Background()
    while True:
        # Closed as soon as the caller stops; otherwise the waiting thread would delay the end of the program.
        with background.attempt(WATCHING):
            async with aclosing(_notices(selection, debounce_ms)) as notices:
                async for _ in notices:
                    after = _keep_unreadable(before, await asyncio.to_thread(look, selection))
                    changes = compare(before, after)
                    before = after
                    if changes:
                        yield changes
        await asyncio.sleep(background.pause(WATCHING, every=0))


def compare(before: Snapshot, after: Snapshot) -> list[Change]:
    changes = []
    for path in sorted(before.files.keys() | after.files.keys()):
        old, new = before.files.get(path), after.files.get(path)
        if old is None and new is not None:
            changes.append(Change(kind="added", path=path, name=new[0].name))
        elif old is not None and (new is None or new[1] != old[1]):
            changes.append(Change(kind="modified" if new else "deleted", path=path, name=old[0].name))
    return changes


def _keep_unreadable(before: Snapshot, after: Snapshot) -> Snapshot:
    """Keeps the files of a folder that cannot be read now, such as an unmounted disk: they are not deleted."""
    closed = {skipped.path for skipped in after.skipped}
    kept = {
        path: seen
        for path, seen in before.files.items()
        if path not in after.files and not closed.isdisjoint(path.parents)
    }
    return Snapshot(files={**after.files, **kept}, skipped=after.skipped)


async def _notices(selection: Selection, debounce_ms: int) -> AsyncGenerator[None, None]:
    """Yields each time to look. Ends when the watch must be set up again."""
    from watchfiles import awatch

    watched = await asyncio.to_thread(_existing, selection)
    if not watched:
        await asyncio.sleep(_LOOK_AGAIN_MS / 1000)
        yield
        return
    waiting = awatch(
        *watched,
        watch_filter=lambda _change, path: _matters(Path(path), selection),
        debounce=debounce_ms,
        step=_QUIET_MS,
        rust_timeout=_LOOK_AGAIN_MS,
        yield_on_timeout=True,
    )
    first = True
    async with aclosing(waiting):
        async for changed in waiting:
            # The first time even without a notice: changes during the set-up gave none.
            if changed or first:
                yield
            first = False
            # The watch follows the file itself, not its name: a replaced or restored path needs a new watch.
            replaced = {Path(path) for _, path in changed} & set(watched)
            if replaced or await asyncio.to_thread(_existing, selection) != watched:
                return


def _existing(selection: Selection) -> list[Path]:
    return [path for path in map(Path.absolute, selection.paths) if _is_there(path)]


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _matters(path: Path, selection: Selection) -> bool:
    """Whether a notice is worth a look; changes in hidden paths such as `.git` are not."""
    for given in map(Path.absolute, selection.paths):
        if path.is_relative_to(given):
            is_hidden = any(part.startswith(".") for part in path.relative_to(given).parts)
            return not is_hidden or path.name in IGNORE_FILES
    return True
