"""The shapes of answers to questions, in Whence's form and in OpenAI's, as OpenAPI tells them."""

from typing import Literal
from uuid import UUID

from pydantic import BaseModel, Field


class ChatSource(BaseModel):
    id: UUID | None = Field(description="The chunk; null for what was put together from the graph.")
    documentId: UUID | None  # noqa: N815 - the API's names
    chunkIndex: int | None = Field(description="The chunk's place in its document, from 0.")  # noqa: N815 - likewise
    chunkText: str  # noqa: N815 - likewise
    source: str = Field(description="The file's name, or `LightRAG Answer`.", examples=["report.pdf"])
    distance: float | None = Field(description="Cosine distance to the question, from 0 to 1.")
    page: int | None


class ChatCitation(BaseModel):
    responseStart: int = Field(description="The sentence of the response, in code points.")  # noqa: N815 - likewise
    responseEnd: int  # noqa: N815 - likewise
    chunkId: UUID | None = Field(description="Null for a sentence that cites nothing.")  # noqa: N815 - likewise
    documentId: UUID | None  # noqa: N815 - likewise
    startOffset: int | None = Field(description="The quote in the document's text, in code points.")  # noqa: N815 - likewise
    endOffset: int | None  # noqa: N815 - likewise
    page: int | None
    quote: str | None = Field(description="Null where the chunk has no word of the sentence.")
    support: float = Field(description="How much of the sentence the quote has, from 0 to 1.")
    supported: bool


class ChatTurn(BaseModel):
    role: Literal["system", "user", "assistant"]
    content: str


class ChatAnswer(BaseModel):
    response: str = Field(description="Citations in it are `[<chunk id>]`.")
    messages: list[ChatTurn]
    sources: list[ChatSource]
    model: str = Field(description="Which model answered; `extractive` where there is none.")
    totalDuration: int = Field(description="Milliseconds.")  # noqa: N815 - likewise
    promptEvalCount: int | None = Field(description="Tokens of the prompt; null where unknown.")  # noqa: N815 - likewise
    evalCount: int | None = Field(description="Tokens of the answer; null where unknown.")  # noqa: N815 - likewise
    citations: list[ChatCitation]
    notes: list[str] = Field(description="What is to be known of how it came about.")


class CompletionMessage(BaseModel):
    role: Literal["assistant"]
    content: str
    refusal: None


class CompletionChoice(BaseModel):
    index: int
    message: CompletionMessage
    logprobs: None
    finish_reason: Literal["stop", "length", "content_filter"]


class CompletionUsage(BaseModel):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class Completion(BaseModel):
    id: str
    object: Literal["chat.completion"]
    created: int
    model: str = Field(description="The project's name.")
    choices: list[CompletionChoice]
    usage: CompletionUsage
    sources: list[ChatSource]
    citations: list[ChatCitation]
    notes: list[str]
    answeredBy: str = Field(description="The model that answered.")  # noqa: N815 - likewise


class ModelEntry(BaseModel):
    id: str
    object: Literal["model"]
    created: int
    owned_by: Literal["whence"]


class Models(BaseModel):
    object: Literal["list"]
    data: list[ModelEntry]
