"""PDF: the words come from each page's plain text, the structure from kreuzberg's headings and paragraphs.

Kreuzberg's markdown alone is not enough: it drops text that looks like a tag (`<https://…>`), turns "xml:lang" into
"xmltilang", takes a line that begins with "by." for a list item, and its page boundaries belong to another text.
"""

from collections import defaultdict
from pathlib import Path
from typing import Any

from whence.models import Page
from whence.parse.child.kreuzberg import extract, nodes
from whence.parse.child.layout import LayoutBlock, structured
from whence.parse.detect import PDF
from whence.parse.errors import Refused
from whence.parse.pages import join_pages

_KINDS = {"title", "heading", "paragraph", "list_item", "code", "quote", "formula", "footnote"}


def read(path: Path) -> tuple[str, tuple[Page, ...]]:
    result = extract(path, PDF, structure=True)
    blocks: defaultdict[int, list[LayoutBlock]] = defaultdict(list)
    for node in nodes(result):
        if (block := _block(node["content"])) and node.get("page"):
            blocks[node["page"]].append(block)
    pages = result.pages or []
    text, spans = join_pages(structured(page["content"], blocks[page["page_number"]]) for page in pages)
    if not text:
        count = "page" if len(pages) == 1 else "pages"
        raise Refused("no_text", f"Its {len(pages)} {count} hold no text, as when paper is scanned")
    return text, spans


def _block(content: dict[str, Any]) -> LayoutBlock | None:
    kind, text = content["node_type"], content.get("text") or ""
    if not text or kind not in _KINDS:
        return None
    level = content.get("level", 1) if kind in {"title", "heading"} else 0
    return LayoutBlock(text, level, kind == "list_item")
