"""The same answers in OpenAI's protocol. Its names are theirs; ours are added in camelCase.

Clients of that protocol send fields that only other servers know: these requests ignore what they do not need.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, TypeAdapter, ValidationInfo, field_validator, model_validator

from whence.api.base import AnswerShape, RequestShape
from whence.api.chat import (
    DEFAULT_LIMIT,
    LIMIT,
    MAX_TURN,
    MAX_TURNS,
    ChatCitation,
    ChatSource,
    Limit,
    sources_of,
)
from whence.api.values import Flag, text, wrong
from whence.chat import Answer, Asked
from whence.errors import BadInput
from whence.models import Project, is_blank
from whence.providers import Message, Role
from whence.search import MAX_QUERY

FinishReason = Literal["stop", "length", "content_filter"]

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_LEFT_OUT = ("tool", "function")
"""Roles of what tools said to a model that can use them."""
_SAID = text(MAX_TURN, blank=True)
_NO_MESSAGES = "a list of messages, the last one the user's"


class _TolerantRequest(RequestShape):
    """Ignores unknown fields. The names are OpenAI's, as they are."""

    model_config = ConfigDict(alias_generator=None, extra="ignore")


class ContentPart(_TolerantRequest):
    type: Literal["text", "refusal"]
    text: Annotated[str | None, _SAID] = None
    refusal: Annotated[str | None, _SAID] = None

    @field_validator("type", mode="before")
    @classmethod
    def _require_text(cls, kind: Any) -> Any:
        if kind not in ("text", "refusal"):
            raise wrong("text: pictures, sounds and files cannot be asked about")
        return kind

    @model_validator(mode="after")
    def _require_its_text(self) -> Self:
        if getattr(self, self.type) is None:
            raise wrong(f"a part with a field {self.type}")
        return self

    @property
    def said(self) -> str:
        return (self.text if self.type == "text" else self.refusal) or ""


_PARTS = TypeAdapter(list[ContentPart])


class CompletionTurn(_TolerantRequest):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[ContentPart] | None = Field(
        default=None, description="Only the assistant and tools may say nothing.", validate_default=True
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
        """None for what tools said, and where the assistant only called one."""
        if self.content is None:
            return None
        said = [self.content] if isinstance(self.content, str) else [part.said for part in self.content]
        return Message(role=_ROLES[self.role], content="\n".join(said))


class StreamOptions(_TolerantRequest):
    include_usage: Flag = False


class CompletionRequest(_TolerantRequest):
    model_config = ConfigDict(
        json_schema_extra={
            "example": {"model": "default", "messages": [{"role": "user", "content": "Who paid for it?"}]}
        }
    )

    model: Annotated[str, text(MAX_TURN)] = Field(description="A project's name or id.")
    messages: list[CompletionTurn] = Field(
        max_length=MAX_TURNS,
        json_schema_extra={"minItems": 1},
        description="The last one is the user's question. What tools said is left out.",
    )
    stream: Flag = False
    stream_options: StreamOptions | None = None
    limit: Limit = Field(default=DEFAULT_LIMIT, description=LIMIT)

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
        said = _messages(turns)
        if not said or said[-1].role != "user":
            raise wrong("a list whose last message is the user's", provided=said[-1].role if said else None)
        question = said[-1].content
        if is_blank(question) or len(question) > MAX_QUERY:
            place = max(index for index, turn in enumerate(turns) if turn.message() is not None)
            expected = f"a text that is not blank, of at most {MAX_QUERY} characters"
            raise wrong(expected, provided=question, inside=f"[{place}].content")
        return turns

    @property
    def wants_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage

    def asked(self) -> Asked:
        *history, question = _messages(self.messages)
        # A stream of this protocol ends with its answer: it has no place for judgements.
        verify = False if self.stream else None
        return Asked(message=question.content, history=tuple(history), limit=self.limit, verify=verify)


def _messages(turns: Sequence[CompletionTurn]) -> list[Message]:
    return [said for turn in turns if (said := turn.message()) is not None]


class CompletionMessage(AnswerShape):
    role: Literal["assistant"]
    content: str
    refusal: None


class CompletionChoice(AnswerShape):
    index: int
    message: CompletionMessage
    logprobs: None
    finish_reason: FinishReason


class CompletionUsage(AnswerShape):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int

    @classmethod
    def of(cls, answer: Answer, /, **more: Any) -> Self:
        prompt, completion = answer.prompt_tokens or 0, answer.completion_tokens or 0
        return cls(
            prompt_tokens=prompt, completion_tokens=completion, total_tokens=prompt + completion, **more
        )


def _grounds(answer: Answer) -> dict[str, Any]:
    return {
        "sources": sources_of(answer),
        "citations": answer.citations,
        "notes": answer.notes,
        "answered_by": answer.model,
    }


def finish_reason(answer: Answer) -> FinishReason:
    if answer.finish == "length":
        return "length"
    return "content_filter" if answer.finish == "content_filter" else "stop"


class CompletionAnswer(AnswerShape):
    """The last four are what OpenAI's form has no place for."""

    model_config = ConfigDict(populate_by_name=True)

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str = Field(description="The project's name.")
    choices: list[CompletionChoice]
    usage: CompletionUsage
    sources: list[ChatSource]
    citations: list[ChatCitation]
    notes: list[str]
    answered_by: str = Field(description="The model that answered.", alias="answeredBy")

    @classmethod
    def of(cls, answer: Answer, /, **more: Any) -> Self:
        message = {"role": "assistant", "content": answer.response, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish_reason(answer)}
        return super().of(
            _grounds(answer),
            object="chat.completion",
            choices=[choice],
            usage=CompletionUsage.of(answer),
            **more,
        )


class CompletionDelta(AnswerShape):
    role: Literal["assistant"] = "assistant"
    content: str = ""


class DeltaChoice(AnswerShape):
    index: int
    delta: CompletionDelta
    logprobs: None
    finish_reason: FinishReason | None


class CompletionChunk(AnswerShape):
    """One event of a stream. The first has the `sources`, the last also the `citations`."""

    model_config = ConfigDict(populate_by_name=True)

    id: str
    object: Literal["chat.completion.chunk"]
    created: int
    model: str
    choices: list[DeltaChoice]
    usage: CompletionUsage | None = None
    sources: list[ChatSource] = Field(default=[])
    citations: list[ChatCitation] = Field(default=[])
    notes: list[str] = Field(default=[])
    answered_by: str = Field(default="", alias="answeredBy")

    @classmethod
    def of(cls, delta: CompletionDelta | None, /, finish: FinishReason | None = None, **more: Any) -> Self:
        choice = delta and DeltaChoice(index=0, delta=delta, logprobs=None, finish_reason=finish)
        return cls.model_validate(
            {"object": "chat.completion.chunk", "choices": [choice] if choice else [], **more}
        )

    @classmethod
    def last(cls, answer: Answer, **more: Any) -> Self:
        return cls.of(CompletionDelta(), finish_reason(answer), **_grounds(answer), **more)


class ModelEntry(AnswerShape):
    id: str
    object: Literal["model"]
    created: int
    owned_by: Literal["whence"]

    @classmethod
    def of(cls, project: Project, /, **more: Any) -> Self:
        created = int(project.created_at.timestamp())
        return cls(id=project.name, object="model", created=created, owned_by="whence", **more)


class ModelList(AnswerShape):
    object: Literal["list"]
    data: list[ModelEntry]
