"""Who reads a chunk: a chat model, or rules where there is none. Both give proposals, which nobody believes yet."""

import logging
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from whence.errors import UnreadableReply
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

    async def read(self, schema: Schema, context: ExtractionContext, usage: Usage) -> Reading:
        """Raises ModelError, UnreadableReply, or InvalidParameter where the chunk does not fit into a prompt."""
        ...


@dataclass(frozen=True, slots=True)
class RulesExtractor:
    name: ExtractorName = "rules"
    model: str | None = None

    def prompt_tokens(self, schema: Schema) -> tuple[int, int]:  # noqa: ARG002 - as the protocol has it
        return 0, 0

    async def read(self, schema: Schema, context: ExtractionContext, usage: Usage) -> Reading:  # noqa: ARG002 - likewise
        return Reading(reply=proposals(propose(schema, context)), context=context, blind=True)


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

    async def read(self, schema: Schema, context: ExtractionContext, usage: Usage) -> Reading:
        fitted = fit(
            context,
            frame=lambda mark: frame(schema, mark),
            budget=self.budget,
            count=estimate_tokens,
            options=self.options,
        )
        _log_left_out(fitted)
        asked = messages(schema, fitted)
        form = reply_schema(schema, fitted.context.objects)
        said = await self._ask(asked, form, usage)
        try:
            reply = read_reply(said)
        except UnreadableReply as unreadable:
            problem = str(unreadable.details["reason"])
            again = repaired(asked, reply=said, problem=problem)
            reply = read_reply(await self._ask(again, form, usage))
        return Reading(reply=reply, context=fitted.context)

    async def _ask(self, asked: list[Written], form: JSONSchema, usage: Usage) -> str:
        sent = [Message(role=one["role"], content=one["content"]) for one in asked]
        answer = await self.chat.complete(sent, max_tokens=self.max_tokens, schema=form)
        said = answer.prompt_tokens, answer.completion_tokens
        usage.prompt_tokens += said[0] or sum(estimate_tokens(one.content) for one in sent)
        usage.completion_tokens += said[1] or estimate_tokens(answer.text)
        return answer.text


def _log_left_out(fitted: Fit) -> None:
    if fitted.left_out:
        beyond = [f"{one.part} {one.id} ({one.tokens} tokens, {one.why})" for one in fitted.left_out]
        log.debug("Left out of the prompt for chunk %s: %s", fitted.context.primary.id, "; ".join(beyond))
