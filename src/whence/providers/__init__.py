"""Seams to models: texts in, vectors or answers out.

    base         what an embedder takes and gives         chat        what a chat model takes and gives
    minilm       the local model, which needs nothing but itself
    openai       embedders at any endpoint that speaks OpenAI's protocol; their answers are read in `answers`
    openai_chat  chat models at such endpoints; read in `completions`, and how each wants to be asked is in `dialects`
    connection   what both share: the client, and failures in our words; `retries` says what is sent again, and when
    hashed       no model at all: for tests and for measuring what is around the model
    vectors      arithmetic          windows    texts that are too long for a model
    tokens       how many tokens a text has, about
    choose       what the settings ask for                embedders   those of all projects

Importing this loads no model and no library for one: commands that need none must not wait for it.
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
