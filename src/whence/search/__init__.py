"""Search: ranks chunks for a question by BM25 and by vectors, and fuses both rankings.

service              runs a search                       question            a question and its result
legs                 runs text and vectors               fuse                results of both, fused
vectors              the vector leg, HNSW indexes        bm25                the text leg
expand               context of a chunk                  memory_index        projects held in memory
relevance_threshold  rejects irrelevant hits             background          calibrates an embedding space
index                writes, merges and checks segments
named_documents      documents that a question names
held_vectors         vectors in memory, compared by sketches
query                parses the query                    postings            inverted index of a segment
query_text           questions in a message, text to embed
vocabulary           corrects misspelt words of a question
"""

from whence.search.expand import AlikeChunk, Context, Expansion, values_claimed
from whence.search.fuse import QueryVector
from whence.search.question import MAX_LIMIT, MAX_OFFSET, MAX_QUERY, Hit, Mode, Question, SearchResult
from whence.search.service import Search
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
