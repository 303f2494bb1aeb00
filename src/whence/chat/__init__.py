"""Questions -> answers whose every citation holds.

answer         the service: from a question to an answer
query_rewrite  the search query of a message that follows up on another
answerer       the protocol of what writes answers; models through it
sources        chunks and graph facts that an answer is made from
graph          the facts of the graph about a question
prompt         the prompt of a model           fences      documents in a prompt, made harmless
reply          a model's text -> the client's text, as it streams
citing         the validator of citations      support     how well citations support the answer
passages       the texts that citations name   words       texts as the words that carry their meaning

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
