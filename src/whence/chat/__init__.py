"""Questions -> answers whose every citation holds.

answer        the way of a question          question    what is searched for it
sources       what an answer is made from    graph       what the graph has to say
prompt        what a model is asked          fences      texts of strangers in a prompt
extractive    answers without a model        quotable    what of a passage can be quoted, rows among it
asking        what a question asks for       forms       what answers look like
kin           words that stand for others
quoting       what was chosen of them, written as an answer
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
from whence.chat.sources import GRAPH_SOURCE, Source
from whence.chat.support import Citation

__all__ = [
    "GRAPH_SOURCE",
    "MAX_SOURCES",
    "NOTHING_FOUND",
    "Answer",
    "Asked",
    "Chat",
    "Citation",
    "Source",
    "Sources",
]
