"""The protocol of everything that writes answers, and what models write through it."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from whence.chat.citing import without_citations
from whence.chat.passages import Quote
from whence.chat.prompt import Prompt, build_prompt
from whence.chat.sources import Source, numbered
from whence.providers import ChatModel, Completion, Message

EXTRACTIVE = "extractive"
"""The name of the answerer without a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRequest:
    message: str
    sources: tuple[Source, ...]
    """What the answer may be made from: the graph's source first, then chunks in the order of the search."""
    before: str = ""
    """Earlier questions that the message follows up on."""
    history: tuple[Message, ...] = ()
    language: str = "english"
    """The language of the project's text index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An answer about to be written, before its citations are validated."""

    sources: tuple[Source, ...]
    """The sources of the request that the answer is made from, in their order."""
    parts: AsyncGenerator[str | Completion, None]
    """The text in pieces, none empty, and last the completion with the whole text. Citations are `[<chunk id>]` or `[<number>]`."""
    masked: bool = False
    """Brackets of the documents are written with other characters (`fences`), which are turned back after validation."""
    quotes: tuple[Quote, ...] = ()
    """All that the answer says, where it only quotes."""


@runtime_checkable
class Answerer(Protocol):
    @property
    def name(self) -> str: ...

    def draft(self, request: AnswerRequest) -> Draft:
        """Raises InvalidParameter where the message is too long. `parts` may raise ModelError."""
        ...


class ModelAnswerer:
    """Answers by a chat model, which is shown as many sources as fit into its context."""

    def __init__(self, model: ChatModel, *, context: int, max_tokens: int) -> None:
        self._model = model
        self._context = context
        self._max_tokens = max_tokens

    @property
    def name(self) -> str:
        return self._model.model

    def draft(self, request: AnswerRequest) -> Draft:
        sources, prompt = self._fit(request, request.sources)
        parts = self._model.stream(prompt.messages, max_tokens=self._max_tokens)
        return Draft(sources=sources, parts=parts, masked=True)

    def _fit(self, request: AnswerRequest, sources: tuple[Source, ...]) -> tuple[tuple[Source, ...], Prompt]:
        """The sources that fit, and the prompt with them. The graph's source refers to no other."""
        numbers = numbered(sources)
        prompt = build_prompt(
            request.message,
            [source.excerpt(numbers) for source in sources],
            [_without_ids(turn) for turn in request.history],
            context=self._context,
            max_tokens=self._max_tokens,
        )
        kept = sources[: len(prompt.excerpts)]
        if kept == sources:
            return sources, prompt
        # Alone, the graph's source could not be cited.
        return self._fit(request, sources[1:] if len(kept) == 1 and kept[0].is_graph else kept)


async def say(*pieces: str, model: str = EXTRACTIVE) -> AsyncGenerator[str | Completion, None]:
    """A text that no model wrote, in the form of a model's."""
    for piece in pieces:
        yield piece
    yield Completion(
        text="".join(pieces), prompt_tokens=None, completion_tokens=None, model=model, finish="stop"
    )


def _without_ids(turn: Message) -> Message:
    """The ids in an earlier answer mean nothing to a model."""
    if turn.role != "assistant":
        return turn
    return Message(role=turn.role, content=without_citations(turn.content))
