"""Seams to models: texts in, vectors out.

    base        what an embedder takes and gives
    minilm      the local model, which needs nothing but itself
    openai      any endpoint that speaks OpenAI's protocol; its answers are read in `answers`, its failures in `retries`
    hashed      no model at all: for tests and for measuring what is around the model
    vectors     arithmetic          windows    texts that are too long for a model
    choose      the embedder that the settings ask for        embedders   those of all projects

Importing this loads no model and no library for one: commands that need none must not wait for it.
"""

from whence.providers.base import Embedded, Embedder
from whence.providers.choose import open_embedder
from whence.providers.embedders import Embedders

__all__ = ["Embedded", "Embedder", "Embedders", "open_embedder"]
