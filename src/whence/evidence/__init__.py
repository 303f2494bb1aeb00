"""From a span of a document's text to the place where a reader sees it: page, rectangles, headings, picture.

layout      characters of a page aligned with the stored text, and rectangles of a span
location    page, slide, row, part or section of a span
service     reads and caches what these need
"""

from whence.evidence.layout import Reason, Rect
from whence.evidence.location import Location
from whence.evidence.service import Evidence, FoundSpan, PageRects, PageSize, PrintedLine

__all__ = ["Evidence", "FoundSpan", "Location", "PageRects", "PageSize", "PrintedLine", "Reason", "Rect"]
