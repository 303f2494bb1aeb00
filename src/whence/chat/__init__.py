"""Questions -> answers whose every citation holds.

answer        the service: from a question to an answer
query_rewrite the search query of a message that follows up on another
answerer      the protocol of what writes answers; models through it
sources       chunks and graph facts that an answer is made from
graph         the facts of the graph about a question
prompt        the prompt of a model          fences      documents in a prompt, made harmless
reply         what a model writes -> what a client reads, as it comes
markers       what a citation looks like when a model writes it
citations     the one validator: markers become ids of sources, or go
leads         what stands before a marker      blanks      white space in an answer
leftovers     what goes with a marker that goes
statements    an answer as sentences with their citations
claims        which of them ought to cite
support       how well each sentence is supported by what it cites
figures       numbers, dates and times in one form    numerals    numbers, also in words
written       the answer while it is validated
passages      what citations point at        words       texts as the words that carry their meaning

Only `answer` and `graph` ask anybody anything; the others are pure.
"""

from whence.chat.answer import MAX_SOURCES, NOTHING_FOUND, Answer, Asked, Chat, Sources
from whence.chat.answerer import Answerer, AnswerRequest, Draft, ModelAnswerer
from whence.chat.sources import GRAPH_SOURCE, Source
from whence.chat.support import Citation

__all__ = [
    "GRAPH_SOURCE",
    "MAX_SOURCES",
    "NOTHING_FOUND",
    "Answer",
    "AnswerRequest",
    "Answerer",
    "Asked",
    "Chat",
    "Citation",
    "Draft",
    "ModelAnswerer",
    "Source",
    "Sources",
]
