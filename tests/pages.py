"""The web pages are built into the source tree, which all test processes share."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@contextmanager
def no_other_builds() -> Iterator[None]:
    """While the block runs, no other test process builds the pages."""
    with (ROOT / "ui" / "package.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
