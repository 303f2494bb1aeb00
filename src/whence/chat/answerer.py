"""The protocol of answerers, and the answerer that uses a chat model."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from whence.chat.citing import without_citations
from whence.chat.prompt import Prompt, build_prompt
from whence.chat.sources import Source
from whence.chat.support import Citation
from whence.providers import NOTHING_PASSED_ON, ChatModel, Completion, Message, PassedOn

EXTRACTIVE = "extractive"
"""The name of the answerer without a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRequest:
    message: str
    sources: tuple[Source, ...]
    """The sources to answer from: the graph's first, then chunks in search order."""
    before: str = ""
    """Earlier questions that the message follows up on."""
    history: tuple[Message, ...] = ()
    language: str = "english"
    """The language of the project's text index."""
    corrected: str = ""
    """The message as it was searched: with misspelt words corrected."""
    passed_on: PassedOn = NOTHING_PASSED_ON


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An answer to be streamed; its citations are not validated yet."""

    sources: tuple[Source, ...]
    """The request's sources that the answer is made from, in order."""
    parts: AsyncGenerator[str | Completion, None]
    """Non-empty pieces of text, then the completion with the whole text. Citations are `[<chunk id>]` or `[<number>]`."""
    masked: bool = False
    """Whether the documents' brackets are replaced by others (`prompt_escaping`), to be restored after validation."""
    citations: tuple[Citation, ...] = ()
    """The citations of an answer that only quotes; they need no validation."""


@runtime_checkable
class Answerer(Protocol):
    @property
    def name(self) -> str: ...

    def draft(self, request: AnswerRequest) -> Draft:
        """Raises InvalidParameter if the message is too long. `parts` may raise ModelError."""
        ...


class ModelAnswerer:
    """Answers with a chat model, from as many sources as fit into its context."""

    def __init__(self, model: ChatModel, *, context: int, max_tokens: int) -> None:
        self._model = model
        self._context = context
        self._max_tokens = max_tokens

    @property
    def name(self) -> str:
        return self._model.model

    def draft(self, request: AnswerRequest) -> Draft:
        history = [clean_turn(turn) for turn in request.history]
        sources, prompt = self._fit(request.message, history, request.sources)
        parts = self._model.stream(prompt.messages, max_tokens=self._max_tokens, passed_on=request.passed_on)
        return Draft(sources=sources, parts=parts, masked=True)

    def _fit(
        self, message: str, history: Sequence[Message], sources: tuple[Source, ...]
    ) -> tuple[tuple[Source, ...], Prompt]:
        """The sources that fit, and their prompt. The graph's source cites only these."""
        prompt = build_prompt(message, sources, history, context=self._context, max_tokens=self._max_tokens)
        kept = sources[: len(prompt.sources)]
        if kept == sources:
            return sources, prompt
        # The graph's source alone could not be cited.
        return self._fit(message, history, sources[1:] if len(kept) == 1 and kept[0].is_graph else kept)


async def say(*pieces: str, model: str = EXTRACTIVE) -> AsyncGenerator[str | Completion, None]:
    """Yields a fixed text in the form of a model's stream."""
    for piece in pieces:
        yield piece
    text = "".join(pieces)
    yield Completion(text=text, prompt_tokens=None, completion_tokens=None, model=model, finish="stop")


def clean_turn(turn: Message, *, but: Sequence[Source] = ()) -> Message:
    """An earlier turn; an answer loses its citations, except those of the given sources. To a model chunk ids mean nothing."""
    if turn.role != "assistant":
        return turn
    return Message(role=turn.role, content=without_citations(turn.content, but=but))
