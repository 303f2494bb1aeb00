"""Work that models do elsewhere, done without one, behind the same protocols.

answerer         quotes the documents         registry        answerers by name, also of other distributions
ranking          the units that answer        quotable_units  a chunk as sentences, rows and code
delimited_rows   rows with commas or tabs
"""

from whence.offline.answerer import MAX_HITS, NOTHING_QUOTABLE, ExtractiveAnswerer
from whence.offline.registry import ENTRY_POINT_GROUP, answerer

__all__ = ["ENTRY_POINT_GROUP", "MAX_HITS", "NOTHING_QUOTABLE", "ExtractiveAnswerer", "answerer"]
