"""OpenAI's embeddings: vectors of texts, from the embedder of a project."""

import base64
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, field_validator

from whence.api.base import AnswerShape, or_text
from whence.api.chat import MAX_TURN
from whence.api.completions import TolerantRequest
from whence.api.values import text, whole, wrong

if TYPE_CHECKING:  # numpy is loaded with the embedder
    from whence.providers import Embedded

MAX_INPUTS = 2048
_MAX_DIMENSIONS = 100_000


class EmbeddingsRequest(TolerantRequest):
    model_config = ConfigDict(
        json_schema_extra={"example": {"model": "default", "input": "Who paid for it?"}}
    )

    model: Annotated[str | None, text(MAX_TURN)] = Field(
        default=None,
        description="A project's name or id, or the name of the embedding model. Default: the key's project, else `default`.",
    )
    input: list[str] = Field(
        json_schema_extra=or_text, description=f"A text, or at most {MAX_INPUTS:,} texts."
    )
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Annotated[int | None, whole(1, _MAX_DIMENSIONS)] = Field(
        default=None, description="Must be the embedder's own."
    )

    @field_validator("input", mode="before")
    @classmethod
    def _read_input(cls, given: Any) -> Any:
        texts = [given] if isinstance(given, str) else given
        if isinstance(texts, list) and any(isinstance(one, int | list) for one in texts):
            raise wrong(
                "texts: token ids belong to another model (LangChain: check_embedding_ctx_length=False)"
            )
        is_list = isinstance(texts, list) and 1 <= len(texts) <= MAX_INPUTS
        if not is_list or not all(isinstance(one, str) and one for one in texts):
            raise wrong(f"a text that is not empty, or a list of 1 to {MAX_INPUTS:,} of them")
        return texts


class EmbeddingEntry(AnswerShape):
    object: Literal["embedding"]
    index: int
    embedding: list[float] | str = Field(description="With `base64`: float32, little-endian.")


class EmbeddingsUsage(AnswerShape):
    prompt_tokens: int
    total_tokens: int


class EmbeddingsAnswer(AnswerShape):
    object: Literal["list"]
    model: str = Field(description="The embedding model.")
    data: list[EmbeddingEntry]
    usage: EmbeddingsUsage

    @classmethod
    def of_vectors(cls, embedded: "Embedded", model: str, *, encoded: bool) -> Self:
        tokens = sum(count or 0 for count in embedded.token_counts)
        rows = embedded.vectors.astype("<f4")
        return cls(
            object="list",
            model=model,
            data=[
                EmbeddingEntry(
                    object="embedding",
                    index=index,
                    embedding=base64.b64encode(row.tobytes()).decode() if encoded else row.tolist(),
                )
                for index, row in enumerate(rows)
            ],
            usage=EmbeddingsUsage(prompt_tokens=tokens, total_tokens=tokens),
        )
