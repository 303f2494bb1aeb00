"""The only module that calls kreuzberg and translates its errors."""

from pathlib import Path
from typing import Any

import kreuzberg
from kreuzberg import ConcurrencyConfig, ContentFilterConfig, ExtractionConfig, ExtractionResult, PageConfig

from whence.parse.errors import Refused

MARK = "\n\n\ue000{page_num}\ue000\n\n"
"""Marks each slide, with private-use characters that documents do not contain."""
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
        # Off, because it "repairs" intact texts.
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
        raise _refused(exc) from exc


def nodes(result: ExtractionResult) -> list[Any]:
    return result.document["nodes"] if result.document else []


def _refused(exc: Exception) -> Refused:
    cause = f"{type(exc).__name__}: {exc}"[:_CAUSE]
    if any(word in cause.lower() for word in _PASSWORD):
        return Refused(
            "encrypted", "The document is protected by a password; remove it and try again", cause=cause
        )
    return Refused("corrupt", "The document is damaged or not complete", cause=cause)
