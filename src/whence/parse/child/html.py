"""Web pages and e-books."""

import re
from pathlib import Path

from whence.models import Page
from whence.parse.child.kreuzberg import extract
from whence.parse.child.markdown import without_pictures
from whence.parse.decode import NotText, decode
from whence.parse.detect import EPUB, HTML
from whence.parse.errors import Refused

# Removed, because kreuzberg would turn title and metadata into mangled front matter.
_HEAD = re.compile(r"<head\b[^>]*>.*?</head\s*>", re.IGNORECASE | re.DOTALL)
_HEAD_PARTS = re.compile(
    r"<title\b[^>]*>.*?</title\s*>|<(?:meta|link|base)\b[^>]*>", re.IGNORECASE | re.DOTALL
)
_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([A-Za-z0-9._:-]+)", re.IGNORECASE)
_LOOK = 4096


def read(path: Path, *, charset: str | None) -> str:
    return _to_markdown(_decoded(path.read_bytes(), charset=charset))


def read_epub(path: Path) -> tuple[str, tuple[Page, ...]]:
    return without_pictures(extract(path, EPUB).content), ()


def to_markdown(content: bytes, *, charset: str | None = None) -> str:
    return _to_markdown(_decoded(content, charset=charset))


def _decoded(content: bytes, *, charset: str | None = None) -> bytes:
    """In UTF-8, the only encoding that kreuzberg reads, and without the head."""
    said = _CHARSET.search(content, 0, _LOOK)
    try:
        page = decode(content, said=charset or (said[1].decode() if said else None))
    except NotText as exc:
        raise Refused("corrupt", "The document is damaged or not complete") from exc
    return _HEAD_PARTS.sub("", _HEAD.sub("", page, count=1)).encode()


def _to_markdown(page: bytes) -> str:
    if not page.strip():
        raise Refused("no_text", "There is no text in the document")
    return without_pictures(extract(page, HTML).content)
