"""Scans: pages and pictures whose text must be recognised. That needs the extra `whence-kb[ocr]`."""

from functools import cache
from importlib.util import find_spec

from whence.parse.parsed import MEGABYTE

MEMORY = 500 * MEGABYTE
"""Memory for recognition, in addition to that for parsing."""
HINT = "to read scans, install whence-kb[ocr]"


@cache
def installed() -> bool:
    return find_spec("rapidocr") is not None
