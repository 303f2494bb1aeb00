"""Chat: answers questions from the documents, with validated citations.

answer         the service: from a question to an answer
query_rewrite  the search query of a follow-up message
answerer       the protocol of answerers, and the one with a chat model
sources        chunks and graph facts that an answer is made from
graph          graph facts for a question
alignment      chunks of LightRAG in our documents
prompt         the prompt of a model
citing         the validator of citations      support   scores how well citations support the answer

Only `answer`, `answerer`, `graph` and `alignment` use a database or a model; the others are pure.
"""

from whence.chat.answer import MAX_SOURCES, Answer, Asked, Chat, Sources, Verified
from whence.chat.answerer import Answerer, AnswerRequest, Draft, ModelAnswerer
from whence.chat.sources import Source
from whence.chat.support import Citation

__all__ = [
    "MAX_SOURCES",
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
    "Verified",
]
