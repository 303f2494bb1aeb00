"""Search: ranks chunks for a question by BM25 and by vectors, and fuses both rankings.

service              runs a search                       expand              context of a chunk
retrieved            results of both legs                memory_index        small projects held in memory
vectors              the vector leg                      bm25                the text leg
vector_index         builds and drops HNSW indexes       index               writes and merges segments
fuse                 fuses both scores                   postings            inverted index of a segment
relevance_threshold  rejects irrelevant hits             query               parses the query
query_text           text to embed for a long message    question_sentences  questions in a message
row_numbers          row numbers of chunks in arrays     index_check         compares index and chunks
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
