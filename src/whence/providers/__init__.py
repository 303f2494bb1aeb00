"""Models: texts in, vectors or answers out.

    base         the protocols of embedders, chat models and rerankers
    minilm       the local embedding model
    openai       embedders at any endpoint that speaks OpenAI's protocol
    openai_chat  chat models at such endpoints; `chat_response` reads the answers
    rerank       rerankers at endpoints with `/rerank`
    connection   shared by all: the client, error translation and retries
    hashed       an embedder without a model, for tests and benchmarks
    windows      splits texts that are too long for a model, and averages the vectors of the parts
    tokens       estimates the number of tokens
    factory      the models of the settings, and the embedders of all projects

Importing this package loads no model and no model library: commands that need none must not wait.
"""

from whence.providers.base import (
    NOTHING_PASSED_ON,
    ChatModel,
    Completion,
    Embedded,
    Embedder,
    JSONSchema,
    Message,
    PassedOn,
    Reranker,
    Role,
)
from whence.providers.factory import Embedders, open_chat_model, open_embedder, open_reranker, recipients
from whence.providers.tokens import estimate_tokens

__all__ = [
    "NOTHING_PASSED_ON",
    "ChatModel",
    "Completion",
    "Embedded",
    "Embedder",
    "Embedders",
    "JSONSchema",
    "Message",
    "PassedOn",
    "Reranker",
    "Role",
    "estimate_tokens",
    "open_chat_model",
    "open_embedder",
    "open_reranker",
    "recipients",
]
