"""What every chat model takes and gives."""

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
    """As the model counts them; None where it does not tell. So the next."""
    completion_tokens: int | None
    model: str
    """Which one answered, by its own account: a name such as `latest` stands for others."""
    finish: str | None
    """Why it stopped: `stop` at its end, `length` for want of tokens; None where it does not tell."""


@runtime_checkable
class ChatModel(Protocol):
    """An answer is whole or an error: none is ever silently short."""

    @property
    def provider(self) -> str: ...

    @property
    def model(self) -> str: ...

    def stream(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float = 0
    ) -> AsyncGenerator[str | Completion, None]:
        """The text in pieces as they come, none empty, and last the whole of it. Raises ModelError.

        What fails before the first piece is tried again; afterwards nobody could take the pieces back. Closed early
        (`contextlib.aclosing`), it hangs up, and the model need not go on.
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

        With a schema the text is meant to be JSON that fits it. Not every model can be held to that: the
        messages have to say what is wanted too, and the text is to be checked.
        """
        ...

    async def check(self) -> str:
        """In words that it works; raises WhenceError where it does not."""
        ...

    async def aclose(self) -> None: ...
