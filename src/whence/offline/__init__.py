"""Work without a model, behind the protocols that models implement.

answerer         quotes the documents         extractor       finds what a document states in a fixed form
ranking          the units that answer        rules           the forms: headings, pairs, tables, definitions, …
quotable_units   a chunk as sentences, rows and code
delimited_rows   rows with commas or tabs     registry        answerers by name, also of other distributions
"""

from whence.offline.answerer import MAX_HITS, NOTHING_QUOTABLE, ExtractiveAnswerer
from whence.offline.registry import ENTRY_POINT_GROUP, answerer

__all__ = ["ENTRY_POINT_GROUP", "MAX_HITS", "NOTHING_QUOTABLE", "ExtractiveAnswerer", "answerer"]
