"""The answerer and the extractor that need no model.

answerer         quotes the documents            extractor   extracts statements in a fixed form
ranking          ranks units for a question      rules       the forms: headings, pairs, tables, definitions, …
quotable_units   splits a chunk into sentences, rows and code
registry         answerers by name, also of other distributions
"""

from whence.offline.answerer import MAX_HITS, NOTHING_QUOTABLE, ExtractiveAnswerer
from whence.offline.registry import ENTRY_POINT_GROUP, answerer

__all__ = ["ENTRY_POINT_GROUP", "MAX_HITS", "NOTHING_QUOTABLE", "ExtractiveAnswerer", "answerer"]
