"""Search: ranks chunks for a question by BM25 and by vectors, and fuses both rankings.

service              runs a search                       expand              context of a chunk
fuse                 results of both legs, fused         memory_index        small projects held in memory
vectors              the vector leg, HNSW indexes        bm25                the text leg
relevance_threshold  rejects irrelevant hits             index               writes, merges and checks segments
query                parses the query                    postings            inverted index of a segment
query_text           questions in a message, text to embed
vocabulary           corrects misspelt words of a question
"""

from whence.search.expand import AlikeChunk, Context, Expansion, values_claimed
from whence.search.fuse import QueryVector
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
from whence.search.vocabulary import replace_words
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
    "replace_words",
    "values_claimed",
]
