"""The protocols of embedders, chat models and rerankers, their types, and what implementations share."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

if TYPE_CHECKING:  # numpy takes a tenth of a second, and most commands embed nothing
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]

Role = Literal["system", "user", "assistant"]
JSONSchema: TypeAlias = Mapping[str, Any]

_Job = TypeVar("_Job")


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """One row and one count for each text, in the order of the texts."""

    vectors: "Vectors"
    """Shape (texts, dimensions), float32, each row of length 1: the dot product of two is their cosine."""
    token_counts: list[int | None]
    """Tokens of each text, without those that the model adds itself; None if the model does not report them."""


@runtime_checkable
class Embedder(Protocol):
    """Provider, model and dimensions name an embedding space: vectors of two embedders compare if all three agree.

    A text's vector depends on that text alone, and on all of it: a text longer than the model's window is embedded
    in several windows, never cut off.
    """

    @property
    def provider(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    @property
    def is_at_hand(self) -> bool:
        """Whether a few words can be embedded at once: the model is loaded, on this machine, and idle."""
        ...

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """Raises EmbeddingError. When cancelled, it stops after the current computation."""
        ...

    async def check(self) -> str:
        """A sentence for the user if it works, without loading a model; raises WhenceError if it does not."""
        ...

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    role: Role
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedOn:
    """Parts of a client's request that go to the model as they are, in OpenAI's form."""

    options: Mapping[str, Any] = field(default_factory=dict)
    """`response_format`, `tools`, `tool_choice`, …"""
    messages: tuple[Mapping[str, Any], ...] = ()
    """Replies of tools after the question."""

    @property
    def wants_json(self) -> bool:
        return "response_format" in self.options


NOTHING_PASSED_ON = PassedOn()


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    text: str
    prompt_tokens: int | None
    """As the model counts them; None if it does not report them."""
    completion_tokens: int | None
    model: str
    """The model that answered, as it names itself: a name such as `latest` is an alias."""
    finish: str | None
    """Why it stopped: `stop` at its end, `length` when it ran out of tokens; None if unknown."""
    tool_calls: tuple[dict[str, Any], ...] = ()


@runtime_checkable
class ChatModel(Protocol):
    """An answer is complete, or an error: never silently cut short."""

    @property
    def provider(self) -> str: ...

    @property
    def model(self) -> str: ...

    def stream(
        self, messages: Sequence[Message], *, max_tokens: int, passed_on: PassedOn = NOTHING_PASSED_ON
    ) -> AsyncGenerator[str | Completion, None]:
        """The pieces of the text as they arrive, none empty, and at the end the completion. Raises ModelError.

        A failure before the first piece is retried; after it, the error is raised. Closing the generator early
        (`contextlib.aclosing`) closes the connection, so that the model can stop.
        """
        ...

    async def complete(
        self, messages: Sequence[Message], *, max_tokens: int, schema: JSONSchema | None = None
    ) -> Completion:
        """Raises ModelError.

        With a schema the text should be JSON that fits it. Not every endpoint enforces that: the messages must
        ask for it as well, and the caller must check the text.
        """
        ...

    async def check(self) -> str:
        """A sentence for the user if it works; raises WhenceError if it does not."""
        ...

    async def aclose(self) -> None: ...


@runtime_checkable
class Reranker(Protocol):
    """Scores texts by how well they answer a question. Scores compare within one call only."""

    @property
    def model(self) -> str: ...

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """A score for each text, in the order of the texts. Raises RerankError."""
        ...

    async def check(self) -> str:
        """A sentence for the user if it works; raises WhenceError if it does not."""
        ...

    async def aclose(self) -> None: ...


async def in_parallel(work: Callable[[_Job], Awaitable[None]], jobs: Iterable[_Job], *, at_once: int) -> None:
    """Do every job, `at_once` at a time and in order. The first failure stops the others and is raised."""
    waiting = iter(jobs)

    async def take() -> None:
        for job in waiting:  # shared, so that each job is taken once
            await work(job)

    failure: Exception | None = None
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(take())
    except ExceptionGroup as failed:
        failure = failed.exceptions[0]
    if failure is not None:  # outside the except block: otherwise the log would show the group as well
        raise failure


def readable(text: str) -> str:
    """The text with U+FFFD for lone surrogates, which neither tokenizers nor JSON can express."""
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
