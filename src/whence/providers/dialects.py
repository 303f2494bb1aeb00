"""The parameters that a chat endpoint accepts, learnt from its refusals. Pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from whence.providers.base import JSONSchema, Message, readable

Form = Literal["json_schema", "json_object", "none"]
_NEXT_FORM: dict[Form, Form] = {"json_schema": "json_object", "json_object": "none"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """A request to a model, independent of the endpoint's dialect."""

    messages: Sequence[Message]
    max_tokens: int
    temperature: float = 0
    schema: JSONSchema | None = None
    streamed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """Every endpoint knows the first; OpenAI's newer models require the second."""
    temperature: bool = True
    """Reasoning models often have a fixed one."""
    usage: bool = True
    """Whether the endpoint reports the tokens of a stream on request."""
    form: Form = "json_schema"
    """The strictest way to make the answer fit a schema."""


def request(model: str, question: ModelRequest, dialect: Dialect) -> dict[str, Any]:
    """The body to send."""
    messages = [{"role": one.role, "content": readable(one.content)} for one in question.messages]
    body: dict[str, Any] = {"model": model, "messages": messages, dialect.limit: question.max_tokens}
    if dialect.temperature:
        body["temperature"] = question.temperature
    if question.streamed:
        body["stream"] = True
        if dialect.usage:
            body["stream_options"] = {"include_usage": True}
    if question.schema is not None and dialect.form != "none":
        body["response_format"] = _response_format(question.schema, dialect.form)
    return body


def simpler(dialect: Dialect, question: ModelRequest, words: str) -> Dialect | None:
    """The dialect to try after a refusal with these words; None when nothing more can be left out.

    The words may quote the messages and so name a parameter by chance. That costs one useless request: only a dialect
    that got an answer is kept.
    """
    if dialect.limit == "max_tokens" and "max_completion_tokens" in words:
        return replace(dialect, limit="max_completion_tokens")
    if dialect.temperature and "temperature" in words:
        return replace(dialect, temperature=False)
    if dialect.usage and question.streamed and "stream_options" in words:
        return replace(dialect, usage=False)
    if question.schema is not None and dialect.form in _NEXT_FORM:
        return replace(dialect, form=_NEXT_FORM[dialect.form])
    return None


def _response_format(schema: JSONSchema, form: Form) -> dict[str, Any]:
    if form == "json_object":
        return {"type": form}
    return {"type": form, "json_schema": {"name": "answer", "strict": True, "schema": dict(schema)}}
