"""Watches the files of a selection: compares one look with the next.

So moved folders, files that an editor replaces instead of writing, changed ignore files and network drives are all
handled in the same way.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Literal

from whence.background import Background
from whence.cli.files import FoundFile, Selection, Skipped, find

_PAUSE = 1.0
_PAUSE_PER_LOOK = 10
"""How much longer than a look the pause after it is, so that a large folder does not keep a processor busy."""
_MOST_LOOKS = 5

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
    selection: Selection, *, since: Snapshot, background: Background | None = None
) -> AsyncGenerator[list[Change], None]:
    """Yields lists of changes after `since`, without end.

    A burst of changes is one list, yielded when two looks are the same, or after some looks at files that keep changing.
    """
    before = seen = since
    background = background or Background()
    unlike = 0
    while True:
        began = monotonic()
        with background.attempt(WATCHING):
            last, seen = seen, _keep_unreadable(before, await asyncio.to_thread(look, selection))
            unlike = 0 if seen == last else unlike + 1
        pause = max(_PAUSE, (monotonic() - began) * _PAUSE_PER_LOOK)
        if unlike % _MOST_LOOKS == 0 and (changes := compare(before, seen)):
            before = seen
            yield changes
        await asyncio.sleep(background.pause(WATCHING, every=pause))


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
