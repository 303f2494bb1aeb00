"""Answers in OpenAI's protocol, with OpenAI's names. Our additional fields are in camelCase."""

from typing import Any, Literal, Self

from pydantic import ConfigDict, Field

from whence.api.annotations import Annotation, StyledAnswer
from whence.api.base import AnswerShape
from whence.api.chat import ChatCitation, ChatSource, sources_of
from whence.chat import Answer
from whence.models import Project

FinishReason = Literal["stop", "length", "content_filter", "tool_calls"]


class CompletionMessage(AnswerShape):
    role: Literal["assistant"]
    content: str | None = Field(description="Null if the model only calls tools.")
    refusal: None
    annotations: list[Annotation]
    tool_calls: list[dict[str, Any]] = Field(
        default=[], description="The tool calls as the model wrote them."
    )


class CompletionChoice(AnswerShape):
    index: int
    message: CompletionMessage
    logprobs: None
    finish_reason: FinishReason


def tokens_of(answer: Answer) -> tuple[int, int, int]:
    """Tokens of the prompt, of the answer, and of both; 0 if the model reports none."""
    prompt, completion = answer.prompt_tokens or 0, answer.completion_tokens or 0
    return prompt, completion, prompt + completion


class CompletionUsage(AnswerShape):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int

    @classmethod
    def of(cls, answer: Answer, /, **more: Any) -> Self:
        prompt, completion, total = tokens_of(answer)
        return cls(prompt_tokens=prompt, completion_tokens=completion, total_tokens=total, **more)


def _describe_grounds(answer: Answer, styled: StyledAnswer) -> dict[str, Any]:
    return {
        "sources": sources_of(answer),
        "citations": styled.citations(answer),
        "notes": answer.notes,
        "answered_by": answer.model,
    }


def finish_reason(answer: Answer) -> FinishReason:
    if answer.tool_calls:
        return "tool_calls"
    if answer.finish == "length":
        return "length"
    return "content_filter" if answer.finish == "content_filter" else "stop"


class CompletionAnswer(AnswerShape):
    """OpenAI's completion. The last four fields are our additions."""

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
    def styled(cls, answer: Answer, styled: StyledAnswer, **more: Any) -> Self:
        content = styled.whole(answer)
        message = {
            "role": "assistant",
            "content": None if answer.tool_calls and not content else content,
            "refusal": None,
            "annotations": styled.annotations(answer),
            **({"tool_calls": answer.tool_calls} if answer.tool_calls else {}),
        }
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish_reason(answer)}
        return cls.of(
            _describe_grounds(answer, styled),
            object="chat.completion",
            choices=[choice],
            usage=CompletionUsage.of(answer),
            **more,
        )


class CompletionDelta(AnswerShape):
    role: Literal["assistant"] = "assistant"
    content: str = ""
    annotations: list[Annotation] = Field(default=[], description="In the last event.")
    tool_calls: list[dict[str, Any]] = Field(default=[], description="In the last event.")


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
    def last(cls, answer: Answer, styled: StyledAnswer, **more: Any) -> Self:
        delta: dict[str, Any] = {"annotations": styled.annotations(answer)}
        if answer.tool_calls:
            delta["tool_calls"] = [{"index": place, **call} for place, call in enumerate(answer.tool_calls)]
        grounds = _describe_grounds(answer, styled)
        return cls.of(CompletionDelta.model_validate(delta), finish_reason(answer), **grounds, **more)


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
