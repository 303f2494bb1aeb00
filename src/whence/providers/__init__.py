"""Models: texts in, vectors or answers out.

    base         the embedder protocol                    chat        the chat model protocol
    minilm       the local embedding model
    openai       embedders at any endpoint that speaks OpenAI's protocol; `embedding_response` reads the answers
    openai_chat  chat models at such endpoints; `chat_response` reads the answers, `dialects` knows the parameters,
                 `reasoning_tags` removes reasoning
    connection   shared by both: the client and error translation; `retries` decides what is sent again, and when
    hashed       an embedder without a model, for tests and benchmarks
    vectors      arithmetic          windows    splits texts that are too long for a model
    tokens       estimates the number of tokens
    factory      the models of the settings               embedders   the embedders of all projects

Importing this package loads no model and no model library: commands that need none must not wait.
"""

from whence.providers.base import Embedded, Embedder
from whence.providers.chat import ChatModel, Completion, JSONSchema, Message
from whence.providers.embedders import Embedders
from whence.providers.factory import open_chat_model, open_embedder
from whence.providers.tokens import estimate_tokens

__all__ = [
    "ChatModel",
    "Completion",
    "Embedded",
    "Embedder",
    "Embedders",
    "JSONSchema",
    "Message",
    "estimate_tokens",
    "open_chat_model",
    "open_embedder",
]
