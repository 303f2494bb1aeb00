"""The protocol of chat models, and its types."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

Role = Literal["system", "user", "assistant"]
JSONSchema: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    role: Role
    content: str


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


@runtime_checkable
class ChatModel(Protocol):
    """An answer is complete, or an error: never silently cut short."""

    @property
    def provider(self) -> str: ...

    @property
    def model(self) -> str: ...

    def stream(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float = 0
    ) -> AsyncGenerator[str | Completion, None]:
        """The pieces of the text as they arrive, none empty, and at the end the completion. Raises ModelError.

        A failure before the first piece is retried; after it, the error is raised. Closing the generator early
        (`contextlib.aclosing`) closes the connection, so that the model can stop.
        """
        ...

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float = 0,
        schema: JSONSchema | None = None,
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
