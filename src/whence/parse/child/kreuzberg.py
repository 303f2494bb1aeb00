"""The only module that calls kreuzberg, translates its errors and cleans its markdown."""

import re
from datetime import datetime
from pathlib import Path

import kreuzberg
from kreuzberg import ConcurrencyConfig, ContentFilterConfig, ExtractionConfig, ExtractionResult, PageConfig

from whence.parse.dates import file_date
from whence.parse.parsed import Refused

MARK = "\n\n\ue000{page_num}\ue000\n\n"
"""Marks each slide, with private-use characters that documents do not contain."""
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_CODE = re.compile(r"(^ {0,3}```.*?^ {0,3}```|`[^`\n]+`)", re.DOTALL | re.MULTILINE)
_LIKE_A_HEADER = re.compile(r"\\(#{1,6}(?:\s|\Z))")
_PICTURE = re.compile(r"!\[([^\]]*)\]\(data:[^)]*\)|!\[\]\([^)]*\)")
_LINK = r"\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*+)\]\((?:[^()\s]|\([^()\s]*\))*+(?:\s+\"[^\"]*\")?\)"
_TARGETS = re.compile(f"!{_LINK}"), re.compile(f"(?<!!){_LINK}")
"""Pictures first, because a link may have one as its words."""
_PASSWORD = ("password", "encrypted")
_CAUSE = 500


def extract(
    source: Path | bytes, mime: str, *, structure: bool = False, marked: bool = False
) -> ExtractionResult:
    """`structure` adds the blocks of the document, `marked` a mark before each slide."""
    config = ExtractionConfig(
        use_cache=False,
        output_format="markdown",
        include_document_structure=structure,
        # Off, because it changes intact texts.
        enable_quality_processing=False,
        # Keep text that repeats on several pages.
        content_filter=ContentFilterConfig(
            include_headers=True, include_footers=True, strip_repeating_text=False, include_watermarks=True
        ),
        # Each thread takes memory; the server decides how many documents are read at once.
        concurrency=ConcurrencyConfig(max_threads=1),
        pages=PageConfig(extract_pages=structure, insert_page_markers=marked, marker_format=MARK),
    )
    try:
        if isinstance(source, bytes):
            return kreuzberg.extract_bytes_sync(source, mime, config=config)
        return kreuzberg.extract_file_sync(source, mime, config=config)
    except MemoryError:
        raise
    except Exception as exc:
        raise _refuse(exc) from exc


def date_of(result: ExtractionResult) -> datetime | None:
    """The date of the last change in the document's properties, else of its creation."""
    return file_date(result.metadata.get("modified_at"), result.metadata.get("created_at"))


def unescape(text: str) -> str:
    r"""Removes escaping backslashes, as in `C\#`: texts are searched and quoted, not rendered.

    They stay in code, before what would become a header, and before `|` in a table.
    """
    lines, fence = text.split("\n"), ""
    for at, line in enumerate(lines):
        if found := _FENCE.match(line):
            mark = found[1]
            if not fence:
                fence = mark
            elif mark.startswith(fence):
                fence = ""
        elif not fence and "\\" in line:
            lines[at] = _unescape_line(line)
    return "\n".join(lines)


def without_pictures(text: str) -> str:
    """Replaces pictures embedded as data by their descriptions, and removes pictures without one."""
    return _PICTURE.sub(lambda found: found[1] or "", text)


def without_link_targets(text: str) -> str:
    """Replaces links by their words and pictures by their descriptions, because a target inside a sentence disturbs quotes and
    search. Code is unchanged.
    """
    parts = _CODE.split(text)
    for targets in _TARGETS:
        parts[::2] = [targets.sub(r"\1", part) for part in parts[::2]]
    return "".join(parts)


def _unescape_line(line: str) -> str:
    if _LIKE_A_HEADER.match(line):
        return line[:2] + _ESCAPE.sub(r"\1", line[2:])
    in_table = line.startswith("|")
    return _ESCAPE.sub(lambda found: found[0] if in_table and found[1] == "|" else found[1], line)


def _refuse(exc: Exception) -> Refused:
    cause = f"{type(exc).__name__}: {exc}"[:_CAUSE]
    if any(word in cause.lower() for word in _PASSWORD):
        return Refused("encrypted", cause=cause)
    return Refused("corrupt", cause=cause)
