"""The same answers in OpenAI's protocol. Its names are theirs; ours are added in camelCase.

Clients of that protocol send fields that only other servers know: these requests ignore them.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    TypeAdapter,
    ValidationInfo,
    field_validator,
    model_validator,
)

from whence.api.base import RequestShape
from whence.api.chat import (
    DEFAULT_LIMIT,
    LIMIT,
    MAX_TURN,
    MAX_TURNS,
    Limit,
)
from whence.api.values import Flag, text, whole, wrong
from whence.chat import Asked
from whence.chat.citing.restyle import CitationStyle
from whence.chat.client_tasks import is_client_task
from whence.errors import BadInput, InvalidParameter
from whence.models import is_blank
from whence.providers import Message, PassedOn, Role
from whence.search import MAX_QUERY

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_LEFT_OUT = ("tool", "function")
"""Roles of messages with tool results."""
_SAID = text(MAX_TURN, blank=True)
_NUMBER = re.compile(r"(?: |(?<![\w\])]))\[\d{1,3}\](?:\([^()\s]*\))?")
_NO_MESSAGES = "a list of messages, the last one the user's"


class TolerantRequest(RequestShape):
    """A request that ignores unknown fields. Its names are OpenAI's."""

    model_config = ConfigDict(alias_generator=None, extra="ignore")


class ContentPart(TolerantRequest):
    type: Literal["text", "input_text", "output_text", "refusal"]
    text: Annotated[str | None, _SAID] = None
    refusal: Annotated[str | None, _SAID] = None

    @field_validator("type", mode="before")
    @classmethod
    def _require_text(cls, kind: Any) -> Any:
        if kind not in get_args(cls.model_fields["type"].annotation):
            raise wrong("text: pictures, sounds and files cannot be asked about")
        return kind

    @model_validator(mode="after")
    def _require_its_text(self) -> Self:
        field = "refusal" if self.type == "refusal" else "text"
        if getattr(self, field) is None:
            raise wrong(f"a part with a field {field}")
        return self

    @property
    def whole_text(self) -> str:
        return (self.refusal if self.type == "refusal" else self.text) or ""


_PARTS = TypeAdapter(list[ContentPart])


class CompletionTurn(TolerantRequest):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[ContentPart] | None = Field(
        default=None,
        description="Only messages of the assistant and of tools may be empty.",
        validate_default=True,
    )

    @field_validator("content", mode="wrap")
    @classmethod
    def _read_content(cls, content: Any, _handler: Any, info: ValidationInfo) -> Any:
        role = info.data.get("role")
        if role in _LEFT_OUT or (role == "assistant" and not content):
            return None
        if isinstance(content, list):
            return _PARTS.validate_python(content)
        return _SAID.read(content)

    def message(self) -> Message | None:
        """The message; None for a tool's result and for a mere tool call of the assistant."""
        if self.content is None:
            return None
        said = [self.content] if isinstance(self.content, str) else [part.whole_text for part in self.content]
        return Message(role=_ROLES[self.role], content="\n".join(said))


def _require_false(given: Any) -> Any:
    if given is not False:  # 0 equals it
        raise wrong("false")
    return given


Never = Annotated[Literal[False], BeforeValidator(_require_false)]
"""A flag that must be absent or false."""


class StreamOptions(TolerantRequest):
    include_usage: Flag = False


class QuestionRequest(TolerantRequest):
    """The fields that completions and responses share."""

    model: Annotated[str | None, text(MAX_TURN)] = Field(
        default=None, description="A project's name or id. Default: the key's project, else `default`."
    )
    stream: Flag = False
    limit: Limit = Field(default=DEFAULT_LIMIT, description=LIMIT)
    citation_style: CitationStyle | None = Field(
        default=None,
        description="`number`: `[1]`; `id`: `[<chunk id>]`; `markdown`: `[1](link)`; `none`. Default: the project's, else `number`.",
    )
    footnotes: Flag | None = Field(
        default=None,
        description="Append file, page and quote of each source. Default: the project's, else no.",
    )
    tool_choice: str | dict[str, Any] | None = Field(
        default=None, description="Passed on to the model; without a model, no tool may be required."
    )

    def require_possible(self) -> None:
        """Refuses options that need a model."""
        if self.tool_choice not in (None, "auto", "none"):
            raise needs_model("tool_choice", self.tool_choice, expected='absent, "auto" or "none"')


class CompletionRequest(QuestionRequest):
    model_config = ConfigDict(
        json_schema_extra={
            "example": {"model": "default", "messages": [{"role": "user", "content": "Who paid for it?"}]}
        }
    )

    messages: list[CompletionTurn] = Field(
        max_length=MAX_TURNS,
        json_schema_extra={"minItems": 1},
        description="The last message is the user's question. Tool results are left out.",
    )
    stream_options: StreamOptions | None = None
    n: Annotated[int, whole(1, 1)] = Field(default=1, description="The number of answers is always 1.")
    response_format: dict[str, Any] | None = Field(
        default=None, description="Passed on to the model; without a model only `text`."
    )
    tools: list[dict[str, Any]] | None = Field(default=None, description="Passed on to the model.")
    parallel_tool_calls: Flag | None = None
    function_call: Literal["auto", "none"] | None = Field(default=None, description="Use `tool_choice`.")
    logprobs: Never | None = None
    modalities: list[Literal["text"]] | None = None
    _sent: list[Any] = PrivateAttr(default_factory=list)

    @model_validator(mode="wrap")
    @classmethod
    def _keep_messages(cls, sent: Any, handler: Any) -> Any:
        made = handler(sent)
        made._sent = sent["messages"]  # noqa: SLF001 - its own class
        return made

    @model_validator(mode="before")
    @classmethod
    def _require_messages(cls, sent: Any) -> Any:
        if isinstance(sent, dict) and sent.get("messages") in (None, []):
            missing = "is required" if sent.get("messages") is None else "is empty"
            raise BadInput(f"messages {missing}", details={"field": "messages", "expected": _NO_MESSAGES})
        return sent

    @field_validator("messages", mode="after")
    @classmethod
    def _end_with_a_question(cls, turns: list[CompletionTurn]) -> list[CompletionTurn]:
        require_question(turns)
        return turns

    @property
    def wants_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage

    def require_possible(self) -> None:
        kind = (self.response_format or {}).get("type", "text")
        if kind != "text":
            raise needs_model("response_format", kind, expected='absent or {"type": "text"}')
        super().require_possible()

    def said(self) -> list[Message]:
        return messages_of(self.messages)

    def asked(self) -> Asked:
        *history, question = self.said()
        # A stream of this protocol ends with its answer, so judgements could not be sent after it.
        verify = False if self.stream else None
        before = tuple(without_numbers(turn) for turn in history)
        return Asked(
            message=question.content,
            history=before,
            limit=self.limit,
            verify=verify,
            passed_on=self._select_passed_on(),
        )

    def _select_passed_on(self) -> PassedOn:
        options: dict[str, Any] = {}
        if (self.response_format or {}).get("type", "text") != "text":
            options["response_format"] = self.response_format
        if not self.tools:
            return PassedOn(options=options)
        options["tools"] = self.tools
        for name in ("tool_choice", "parallel_tool_calls"):
            if (value := getattr(self, name)) is not None:
                options[name] = value
        last = max(place for place, turn in enumerate(self.messages) if turn.role == "user")
        return PassedOn(options=options, messages=tuple(self._sent[last + 1 :]))


def needs_model(field: str, provided: Any, *, expected: str) -> InvalidParameter:
    return InvalidParameter.of(
        field,
        provided=provided,
        expected=f"{expected}: no chat model is configured (WHENCE_LLM_BASE_URL)",
    )


def without_numbers(turn: Message) -> Message:
    """Removes `[1]` and `[1](link)` from an earlier answer, because the numbers of its sources would mislead a model."""
    if turn.role != "assistant":
        return turn
    return Message(role=turn.role, content=_NUMBER.sub("", turn.content))


def messages_of(turns: Sequence[CompletionTurn]) -> list[Message]:
    return [said for turn in turns if (said := turn.message()) is not None]


def require_question(turns: Sequence[CompletionTurn]) -> None:
    """The last message must be a question of the user."""
    said = messages_of(turns)
    if not said or said[-1].role != "user":
        raise wrong("a list whose last message is the user's", provided=said[-1].role if said else None)
    question = said[-1].content
    # A client's task may contain the conversation that it is about.
    if is_blank(question) or len(question) > (MAX_TURN if is_client_task(question) else MAX_QUERY):
        place = max(index for index, turn in enumerate(turns) if turn.message() is not None)
        expected = f"a text that is not blank, of at most {MAX_QUERY} characters"
        raise wrong(expected, provided=question, inside=f"[{place}].content")
