"""Questions -> answers whose every citation holds.

answer        the way of a question          question    what is searched for it
sources       what an answer is made from    graph       what the graph has to say
prompt        what a model is asked          fences      texts of strangers in a prompt
extractive    answers without a model        quotable    what of a passage can be quoted, rows among it
asking        what a question asks for       forms       what answers look like
kin           words that stand for others
quoting       what was chosen of them, written as an answer
reply         a model's text -> the client's text, as it streams
citing        the validator of citations     support     how well citations support the answer
passages      the texts that citations name  words       texts as the words that carry their meaning

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
