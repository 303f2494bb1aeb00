"""Watches the files of a selection by comparing consecutive scans.

So moved folders, files that an editor replaces, changed ignore files and network drives are all handled in the same way.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from whence.background import BackgroundWork
from whence.cli.files import FoundFile, Selection, Skipped, find

_PAUSE = 1.0
_PAUSE_PER_LOOK = 10
"""The pause after a scan relative to its time, so that a large folder does not keep a processor busy."""
_MOST_LOOKS = 5

WATCHING = "watching for changes"
"""Name of this background task."""

_Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    changed: list[FoundFile]
    """Files that are new or have other content."""
    deleted: list[FoundFile]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The files of a selection at one moment."""

    files: dict[Path, tuple[FoundFile, _Stamp]]
    skipped: tuple[Skipped, ...] = ()

    def stamp(self, path: Path) -> _Stamp | None:
        return self.files[path][1] if path in self.files else None

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
    selection: Selection, *, since: Snapshot, background: BackgroundWork | None = None
) -> AsyncGenerator[Changes, None]:
    """Yields the changes after `since`, without end.

    Collects a burst of changes until two scans are equal, or for a few scans if files keep changing.
    """
    before = seen = since
    background = background or BackgroundWork()
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


def compare(before: Snapshot, after: Snapshot) -> Changes | None:
    """The changes; None if there are none."""
    changed = [found for path, (found, stamp) in sorted(after.files.items()) if stamp != before.stamp(path)]
    deleted = [found for path, (found, _) in sorted(before.files.items()) if path not in after.files]
    return Changes(changed=changed, deleted=deleted) if changed or deleted else None


def _keep_unreadable(before: Snapshot, after: Snapshot) -> Snapshot:
    """Keeps the files of a folder that cannot be read now, such as an unmounted disk, because they are not deleted."""
    closed = {skipped.path for skipped in after.skipped}
    kept = {
        path: seen
        for path, seen in before.files.items()
        if path not in after.files and not closed.isdisjoint(path.parents)
    }
    return Snapshot(files={**after.files, **kept}, skipped=after.skipped)
