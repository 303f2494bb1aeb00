"""Who reads a chunk: a chat model, or rules where there is none. Both give proposals, which nobody believes yet."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from whence.errors import ModelInvalid, UnreadableReply
from whence.extract.context import ContextOptions, ExtractionContext, Fit, fit
from whence.extract.costs import Usage
from whence.extract.prompt import Message as Written
from whence.extract.prompt import frame, messages, repaired, reply_schema
from whence.extract.reply import Reply, proposals, read_reply
from whence.extract.rules import propose
from whence.extract.schema import Schema
from whence.providers import ChatModel, JSONSchema, Message, estimate_tokens
from whence.settings import Settings
from whence.types import ExtractorName

log = logging.getLogger("whence.extract")

MAX_REPLY = 4096
"""Tokens, unless the settings allow a model more; of a small window a quarter."""
_REPAIR = 1500
"""Tokens that stay free for an unreadable reply, which is shown again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    schema: Schema
    context: ExtractionContext
    """As much of it as is shown."""
    messages: tuple[Written, ...] = ()
    """What a model is asked, and in which form it must answer; nothing where there is none."""
    form: JSONSchema = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    reply: Reply
    context: ExtractionContext
    """As much of it as was shown."""
    blind: bool = False
    """Read without a look at what is known, which therefore cannot be an echo of it."""


@runtime_checkable
class Extractor(Protocol):
    @property
    def name(self) -> ExtractorName: ...

    @property
    def model(self) -> str | None: ...

    def prompt_tokens(self, schema: Schema) -> tuple[int, int]:
        """Of a prompt before there is any text in it, and at most."""
        ...

    def question(self, schema: Schema, context: ExtractionContext) -> Question:
        """Raises InvalidParameter where the chunk does not fit into a prompt."""
        ...

    async def read(self, question: Question, usage: Usage) -> Reading:
        """Raises ModelError or UnreadableReply."""
        ...


@dataclass(frozen=True, slots=True)
class RulesExtractor:
    name: ExtractorName = "rules"
    model: str | None = None

    def prompt_tokens(self, schema: Schema) -> tuple[int, int]:  # noqa: ARG002 - as the protocol has it
        return 0, 0

    def question(self, schema: Schema, context: ExtractionContext) -> Question:
        return Question(schema=schema, context=context)

    async def read(self, question: Question, usage: Usage) -> Reading:  # noqa: ARG002 - likewise
        reply = proposals(propose(question.schema, question.context))
        return Reading(reply=reply, context=question.context, blind=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelExtractor:
    chat: ChatModel
    budget: int
    """Tokens of a prompt."""
    max_tokens: int
    """Of a reply."""
    options: ContextOptions

    @classmethod
    def of(cls, settings: Settings, chat: ChatModel) -> "ModelExtractor":
        window = settings.llm_context
        reply = max(settings.llm_max_tokens, min(MAX_REPLY, window // 4))
        room = window - reply
        return cls(
            chat=chat,
            budget=room - min(_REPAIR, room // 4),
            max_tokens=reply,
            options=ContextOptions(),
        )

    @property
    def name(self) -> ExtractorName:
        return "model"

    @property
    def model(self) -> str | None:
        return self.chat.model

    def prompt_tokens(self, schema: Schema) -> tuple[int, int]:
        return estimate_tokens(frame(schema, "")), self.budget

    def question(self, schema: Schema, context: ExtractionContext) -> Question:
        fitted = fit(
            context,
            frame=lambda mark: frame(schema, mark),
            budget=self.budget,
            count=estimate_tokens,
            options=self.options,
        )
        _log_left_out(fitted)
        return Question(
            schema=schema,
            context=fitted.context,
            messages=tuple(messages(schema, fitted)),
            form=reply_schema(schema, fitted.context.objects),
        )

    async def read(self, question: Question, usage: Usage) -> Reading:
        said = await self._said(question, usage)
        try:
            reply = read_reply(said)
        except UnreadableReply as unreadable:
            problem = str(unreadable.details["reason"])
            again = repaired(question.messages, reply=said, problem=problem)
            reply = read_reply(await self._ask(again, question.form, usage))
        return Reading(reply=reply, context=question.context)

    async def _said(self, question: Question, usage: Usage) -> str:
        """What it says first, be it nothing: that deserves a second question as much as prose does."""
        try:
            return await self._ask(question.messages, question.form, usage)
        except ModelInvalid as invalid:
            if (
                invalid.details.get("finish", "length") == "length"
            ):  # it is no blank answer, or one for want of tokens
                raise
        return ""

    async def _ask(self, asked: Sequence[Written], form: JSONSchema, usage: Usage) -> str:
        sent = [Message(role=one["role"], content=one["content"]) for one in asked]
        answer = await self.chat.complete(sent, max_tokens=self.max_tokens, schema=form)
        said = answer.prompt_tokens, answer.completion_tokens
        usage.prompt_tokens += said[0] or sum(estimate_tokens(one.content) for one in sent)
        usage.completion_tokens += said[1] or estimate_tokens(answer.text)
        return answer.text


def _log_left_out(fitted: Fit) -> None:
    """What there is no room for is told as it is; what is only beyond the number that is wanted, to who looks closely."""
    if fitted.left_out:
        beyond = [f"{one.part} {one.id} ({one.tokens} tokens, {one.why})" for one in fitted.left_out]
        level = logging.INFO if any(one.why == "budget" for one in fitted.left_out) else logging.DEBUG
        log.log(
            level, "Left out of the prompt for chunk %s: %s", fitted.context.primary.id, "; ".join(beyond)
        )
