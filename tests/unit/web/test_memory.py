"""Freed memory goes back to the system."""

import ctypes
import sys
from pathlib import Path

import pytest

from whence.web.serve import release_memory

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="another C library"
)


def resident_pages() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1])


def test_holes_between_blocks_in_use_are_given_back() -> None:
    before = resident_pages()
    blocks = [bytes(2_000) for _ in range(50_000)]
    used = resident_pages() - before
    kept = blocks[::100]
    del blocks
    held = resident_pages() - before
    release_memory()
    assert len(kept) == 500
    assert held > used / 2  # the C library keeps it by itself
    assert resident_pages() - before < used / 4
