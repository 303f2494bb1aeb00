"""Questions to chunks: words and vectors are asked, and one order is made of what they say.

find           a question's way                 expand      what stands around a chunk
legs           what words and vectors found     held        small projects in memory
vectors        the vector leg                   bm25        the text leg: chunks ranked by their terms
vector_index   who makes the index of vectors   index       segments of postings come, go and grow together
fuse           one order out of two             postings    which chunks have a term
floor          when nothing was found           query       what somebody looks for
numbering      chunks in arrays                 lexer       text to terms
"""

from whence.search.expand import AlikeChunk, Context, Expansion
from whence.search.retrieved import QueryVector
from whence.search.service import (
    MAX_LIMIT,
    MAX_OFFSET,
    MAX_QUERY,
    Hit,
    Mode,
    Question,
    Search,
    SearchResult,
)
from whence.text.lexer import DEFAULT_LANGUAGE

__all__ = [
    "DEFAULT_LANGUAGE",
    "MAX_LIMIT",
    "MAX_OFFSET",
    "MAX_QUERY",
    "AlikeChunk",
    "Context",
    "Expansion",
    "Hit",
    "Mode",
    "QueryVector",
    "Question",
    "Search",
    "SearchResult",
]
