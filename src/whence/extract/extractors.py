"""Extractors: the protocol, the extractor that uses a chat model, and the installed extractors by name.

An extractor reads a chunk and replies with proposals. The merge checks every one of them. `whence.offline.rules` has an extractor
without a model. Other distributions offer theirs with an entry point of the group `whence.extraction`: the entry point has the
extractor's name and refers to the extractor, or to a class that creates it without arguments.
"""

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint, entry_points
from typing import NamedTuple, Protocol, runtime_checkable

from whence.errors import (
    BadInput,
    Conflict,
    CutOffReply,
    ModelInvalid,
    ModelRefused,
    SettingsError,
    UnreadableReply,
)
from whence.extract.context import ContextOptions, ExtractionContext
from whence.extract.prompt import PromptMessage, fit, frame, messages, repaired, reply_schema
from whence.extract.reply import ExtractionReply, joined, read_reply
from whence.extract.schema import Schema
from whence.models import ExtractorName
from whence.offered import load_offered
from whence.providers import ChatModel, JSONSchema, Message, estimate_tokens
from whence.settings import Settings

log = logging.getLogger("whence.extract")

MAX_REPLY = 4096
"""Maximum tokens of a reply, unless the settings allow more; in a small window, a quarter of it."""
_REPAIR = 1500
"""Tokens kept free to show an unreadable reply again."""
_LENGTH = "length"
"""The finish reason of a reply that ran out of tokens."""
_STILL_CUT = "The model's reply is cut off, also with more tokens and for half of the chunk: see WHENCE_EXTRACTION_MAX_TOKENS"
_BREAKS = tuple(map(re.compile, (r"\n[ \t]*\n\s*", r"[.!?]['\"”’)\]]*\s+|[。！？]", r"\s+")))
"""Patterns for the ends of paragraphs, sentences and words."""

ENTRY_POINT_GROUP = "whence.extraction"
MODEL = "model"
_OURS = frozenset([MODEL, "rules"])


@dataclass(slots=True)
class TokenUsage:
    """Tokens used so far, including those of unreadable replies."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionRequest:
    schema: Schema
    context: ExtractionContext
    """The part of the context that the extractor sees."""
    messages: tuple[PromptMessage, ...] = ()
    """The prompt of a model; empty for an extractor without one."""
    form: JSONSchema = field(default_factory=dict)
    """The JSON schema of the reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadReply:
    reply: ExtractionReply
    context: ExtractionContext
    """The part of the context that the extractor saw."""
    blind: bool = False
    """True if the extractor did not see the values of known objects, so that none of its values is an echo."""


@runtime_checkable
class Extractor(Protocol):
    @property
    def name(self) -> ExtractorName: ...

    @property
    def model(self) -> str | None:
        """The name of its model, if any."""
        ...

    def prompt_tokens(self, schema: Schema) -> tuple[int, int]:
        """Tokens of a prompt without any document text, and of the longest prompt."""
        ...

    def question(self, schema: Schema, context: ExtractionContext) -> ExtractionRequest:
        """Pure. Raises InvalidParameter if the chunk does not fit into a prompt."""
        ...

    async def read(self, question: ExtractionRequest, usage: TokenUsage) -> ReadReply:
        """Raises ModelError or UnreadableReply."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelExtractor:
    chat: ChatModel
    budget: int
    """Maximum tokens of a prompt."""
    max_tokens: int
    """Maximum tokens of a reply at first."""
    most_tokens: int
    """Maximum tokens of a reply after one was cut off."""
    window: int
    """Maximum tokens of a prompt and its reply together."""
    options: ContextOptions

    @classmethod
    def of(cls, settings: Settings, chat: ChatModel) -> "ModelExtractor":
        reply = max(settings.llm_max_tokens, min(MAX_REPLY, settings.llm_context // 4))
        room = settings.llm_context - reply
        budget = room - min(_REPAIR, room // 4)
        return cls(
            chat=chat,
            budget=budget,
            max_tokens=reply,
            most_tokens=settings.extraction_max_tokens,
            window=settings.llm_context,
            options=ContextOptions(),
        )

    @property
    def name(self) -> ExtractorName:
        return MODEL

    @property
    def model(self) -> str | None:
        return self.chat.model

    def prompt_tokens(self, schema: Schema) -> tuple[int, int]:
        return estimate_tokens(frame(schema, "")), self.budget

    def question(self, schema: Schema, context: ExtractionContext) -> ExtractionRequest:
        fitted = fit(context, schema=schema, budget=self.budget, count=estimate_tokens, options=self.options)
        if fitted.left_out:
            missing = ", ".join(map(str, fitted.left_out))
            log.info("The prompt of chunk %s has no room for %s", context.primary.id, missing)
        return ExtractionRequest(
            schema=schema,
            context=fitted.context,
            messages=tuple(messages(schema, fitted)),
            form=reply_schema(schema, fitted.context.objects),
        )

    async def read(self, question: ExtractionRequest, usage: TokenUsage) -> ReadReply:
        try:
            reply = await self._read_whole(question, usage)
        except CutOffReply:
            reply = joined([await self._read_whole(half, usage) for half in self._halve(question)])
        return ReadReply(reply=reply, context=question.context)

    async def _read_whole(self, question: ExtractionRequest, usage: TokenUsage) -> ExtractionReply:
        """Asks with more and more tokens while the reply is cut off. Raises `CutOffReply` if the largest limit does not
        suffice.
        """
        last: _Said | None = None
        for limit in self._limits(question):
            try:
                said = await self._ask(question.messages, question.form, limit, usage)
                return await self._understand(question, said, limit, usage)
            except CutOffReply:
                if said == last:  # the token limit is not the cause
                    break
                last = said
            except ModelRefused:
                if last is None:
                    raise
                break  # the endpoint does not allow that many tokens
        raise CutOffReply(_STILL_CUT)

    async def _understand(
        self, question: ExtractionRequest, said: "_Said", limit: int, usage: TokenUsage
    ) -> ExtractionReply:
        """Reads the reply, or asks once more if it is unreadable. Raises CutOffReply or UnreadableReply."""
        try:
            return said.read()
        except CutOffReply:
            raise
        except UnreadableReply as unreadable:
            problem = str(unreadable.details["reason"])
        again = repaired(question.messages, reply=said.text, problem=problem)
        return (await self._ask(again, question.form, limit, usage)).read()

    def _limits(self, question: ExtractionRequest) -> Iterator[int]:
        """The token limits to try: from the usual one, doubled up to the largest that fits the window."""
        needed = sum(estimate_tokens(one["content"]) for one in question.messages)
        most = min(self.most_tokens, self.window - needed)
        limit = self.max_tokens
        yield limit
        while limit < most:
            limit = min(2 * limit, most)
            yield limit

    def _halve(self, question: ExtractionRequest) -> list[ExtractionRequest]:
        """The same question about each half of the chunk, with the other half as its neighbour."""
        context, texts = question.context, split_in_two(question.context.primary.text)
        if texts is None:
            raise CutOffReply(_STILL_CUT)
        first, second = (replace(context.primary, text=text) for text in texts)
        return [
            self.question(question.schema, replace(context, primary=first, next=(second, *context.next))),
            self.question(
                question.schema, replace(context, primary=second, previous=(first, *context.previous))
            ),
        ]

    async def _ask(
        self, asked: Sequence[PromptMessage], form: JSONSchema, limit: int, usage: TokenUsage
    ) -> "_Said":
        """One reply. A blank reply is returned, too, so that the model is asked again."""
        sent = [Message(role=one["role"], content=one["content"]) for one in asked]
        estimate = sum(estimate_tokens(one.content) for one in sent)
        try:
            answer = await self.chat.complete(sent, max_tokens=limit, schema=form)
        except ModelInvalid as invalid:
            if "finish" not in invalid.details:
                raise
            said = _Said("", is_cut=invalid.details["finish"] == _LENGTH)
            usage.prompt_tokens += estimate
            usage.completion_tokens += limit if said.is_cut else 0
            return said
        usage.prompt_tokens += answer.prompt_tokens or estimate
        usage.completion_tokens += answer.completion_tokens or estimate_tokens(answer.text)
        return _Said(answer.text, is_cut=answer.finish == _LENGTH)


class _Said(NamedTuple):
    text: str
    is_cut: bool
    """True if the model ran out of tokens."""

    def read(self) -> ExtractionReply:
        """Raises CutOffReply or UnreadableReply."""
        reply = None if self.is_cut else read_reply(self.text)
        if reply is None or reply.is_cut:
            raise CutOffReply
        return reply


def split_in_two(text: str) -> tuple[str, str] | None:
    """Cuts near the middle: between paragraphs, else sentences, else words. None if there is no such place."""
    quarter = len(text) // 4
    for breaks in _BREAKS:
        places = [found.end() for found in breaks.finditer(text, quarter, len(text) - quarter)]
        if places:
            at = min(places, key=lambda place: abs(2 * place - len(text)))
            return text[:at], text[at:]
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extractors:
    """The extractors of an installation."""

    model: ModelExtractor | None = None
    """None if no endpoint is configured."""
    others: Mapping[ExtractorName, Extractor] = field(default_factory=dict)
    """Extractors that need no configured endpoint. The first is the default without a model."""

    def require_known(self, name: ExtractorName | None) -> None:
        """Checks a project's choice. `model` is allowed without an endpoint, since one may be configured later."""
        if name not in (None, MODEL, *self.others):
            details = {"field": "config.extractor", "provided": name, "expected": self._names}
            raise BadInput(f"config.extractor must be {self._names}", details=details)

    def choose(self, name: ExtractorName | None) -> ExtractorName:
        """The project's choice, or the default. Raises Conflict if the choice is not available."""
        if name == MODEL and self.model is None:
            message = "The project wants a model to extract, and none is named: see WHENCE_LLM_BASE_URL"
            raise Conflict(message, details={"extractor": name})
        if name not in (None, MODEL, *self.others):
            message = f"The project wants the extractor {name!r}, and no installed distribution offers it"
            raise Conflict(message, details={"extractor": name, "expected": self._names})
        return name or (MODEL if self.model is not None else next(iter(self.others)))

    def get(self, name: ExtractorName, options: ContextOptions) -> Extractor:
        """The extractor with this name, as `choose` returned it."""
        if name == MODEL and self.model is not None:
            return replace(self.model, options=options)
        return self.others[name]

    @property
    def _names(self) -> str:
        return f"one of {', '.join([MODEL, *self.others])}"


def offered_extractors() -> dict[ExtractorName, Extractor]:
    """Extractors of other distributions. An extractor that fails to load is logged and skipped. Our own names cannot be
    replaced.
    """
    offered = (found for found in entry_points(group=ENTRY_POINT_GROUP) if found.name not in _OURS)
    loaded = ((found.name, _load(found)) for found in sorted(offered, key=lambda found: found.name))
    return {name: extractor for name, extractor in loaded if extractor is not None}


def _load(found: EntryPoint) -> Extractor | None:
    try:
        made: Extractor = load_offered(found, Extractor, "extractor", SettingsError)
    except SettingsError as exc:  # the other extractors must still work
        log.exception("%s", exc.message)
        return None
    return made
