"""What changed among the files of a selection, as it changes.

The system's notices only say *when* to look. *What* changed is found by comparing with what was there before: so a
moved folder, a file that editors replace instead of writing, and an ignore file that now says something else all come
out right, and a notice that was lost is made up for by the next.
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
"""The name of that work in the background."""

_Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    kind: Literal["added", "modified", "deleted"]
    path: Path
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What a selection found at one moment."""

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
        except OSError:  # gone since; it counts as deleted
            continue
        files[item.path] = item, (status.st_mtime_ns, status.st_size, status.st_ino)
    return Snapshot(files=files, skipped=tuple(skipped))


async def watch(
    selection: Selection,
    *,
    since: Snapshot | None = None,
    debounce_ms: int = 1_600,
    background: Background | None = None,
) -> AsyncGenerator[list[Change], None]:
    """Changes after `since` (else after now), a list for each time that something changed; for ever.

    A burst of changes comes as one list, when it has been quiet for a moment or after `debounce_ms`.
    """
    background = background or Background()
    before = await asyncio.to_thread(look, selection) if since is None else since
    while True:
        # Closed at once when the caller stops: otherwise the thread that waits would hold up the end of the program.
        with background.attempt(WATCHING):
            async with aclosing(_notices(selection, debounce_ms)) as notices:
                async for _ in notices:
                    after = _keeping_skipped(before, await asyncio.to_thread(look, selection))
                    changes = compare(before, after)
                    before = after
                    if changes:
                        yield changes
        await asyncio.sleep(background.pause(WATCHING, every=0))


def compare(before: Snapshot, after: Snapshot) -> list[Change]:
    changes = []
    for path in sorted(before.files.keys() | after.files.keys()):
        old, new = before.files.get(path), after.files.get(path)
        if new is None and old is not None:
            changes.append(Change(kind="deleted", path=path, name=old[0].name))
        elif new is not None and old is None:
            changes.append(Change(kind="added", path=path, name=new[0].name))
        elif new is not None and old is not None and new[1] != old[1]:
            changes.append(Change(kind="modified", path=path, name=new[0].name))
    return changes


def _keeping_skipped(before: Snapshot, after: Snapshot) -> Snapshot:
    """A folder that cannot be read just now, such as a disk that is not mounted, has not been emptied."""
    closed = {skipped.path for skipped in after.skipped}
    kept = {
        path: seen
        for path, seen in before.files.items()
        if path not in after.files and not closed.isdisjoint(path.parents)
    }
    return Snapshot(files={**after.files, **kept}, skipped=after.skipped)


async def _notices(selection: Selection, debounce_ms: int) -> AsyncGenerator[None, None]:
    """When to look. Ends when the watch has to be set up anew."""
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
            # The first time also without a notice: what changed while the watch was being set up gave none.
            if changed or first:
                yield
            first = False
            # What is watched is the thing, not its name: one that was replaced or came back is another thing.
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
    """Whether a notice is worth a look: not the comings and goings in `.git`."""
    for given in map(Path.absolute, selection.paths):
        if path.is_relative_to(given):
            parts = path.relative_to(given).parts
            hidden = any(part == ".git" or (part.startswith(".") and not selection.hidden) for part in parts)
            return not hidden or path.name in IGNORE_FILES
    return True
