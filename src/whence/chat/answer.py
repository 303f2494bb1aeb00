"""Answers a question: gathers sources, lets an answerer write from them, and validates and scores the citations."""

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, TypeAlias
from uuid import UUID

from whence.background import beside
from whence.chat.alignment import align_chunks
from whence.chat.answerer import Answerer, AnswerRequest, Draft, clean_turn, say
from whence.chat.citing import CitationStream, Validated, Verbatim, without_citations
from whence.chat.graph import MOST_FILTERED, MOST_OBJECTS, Fact, facts_about, named_in, near_to
from whence.chat.query_rewrite import is_small_talk, questions_followed_up
from whence.chat.sources import Source
from whence.chat.support import Citation, support
from whence.chat.verify import verify
from whence.errors import ModelError, ModelInvalid, WhenceError
from whence.evidence import Evidence
from whence.lightrag import LightragReply, LightragServers, ask_lightrag, beside_search
from whence.models import Filters, Page, is_blank
from whence.parse import page_at
from whence.providers import NOTHING_PASSED_ON, ChatModel, Completion, Message, PassedOn
from whence.search import QueryVector, Question, Search, replace_words
from whence.store import Store
from whence.store.evidence import TextSpan
from whence.text.markup import MarkupStream
from whence.text.prompt_escaping import restore_brackets

NOTHING_FOUND = "I found nothing about this in the documents."
SMALL_TALK = "Ask me something that the documents may answer, and I will look it up in them."

MAX_SOURCES = 20
_MOST_BEHIND = 4
"""Maximum number of chunks that support graph facts and were not found by search."""

JUDGE_SECONDS = 30
"""Maximum seconds to wait for the judgements. After that, an answer that is not streamed is sent without them."""
_CUT_SHORT = {
    "length": ("The model ran out of tokens: the answer may be incomplete (WHENCE_LLM_MAX_TOKENS)",),
    "content_filter": ("A filter of the model's provider stopped it: the answer may be incomplete",),
    "refusal": ("The model declined to go on: the answer may be incomplete",),
}
"""Notes for the answer, by the model's finish reason."""
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,200}>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    message: str
    history: tuple[Message, ...] = ()
    """Earlier turns, oldest first. The model sees only user and assistant turns."""
    limit: int = 8
    """Maximum number of chunks from the search."""
    filters: Filters | None = None
    include_ungrounded: bool = False
    """Whether graph facts may have values that no chunk states."""
    notes: tuple[str, ...] = ()
    """Notes about the request, to return with the answer."""
    include_rects: bool = False
    """Give each citation the rectangles of its quote."""
    verify: bool | None = None
    """Whether the model judges the citations; None: as the project and the settings say."""
    passed_on: PassedOn = NOTHING_PASSED_ON
    """Passed to the model unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """The sources of the answer, sent before its text."""

    sources: tuple[Source, ...]
    model: str
    """The name of the model, or of the answerer without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    response: str
    messages: tuple[Message, ...]
    """The history, the question and the response."""
    sources: tuple[Source, ...]
    """The sources that the model saw: the graph's first, then chunks in search order, then chunks behind graph facts."""
    citations: tuple[Citation, ...]
    removed: int
    """Number of citations that the validator removed because they name no source."""
    model: str
    seconds: float
    prompt_tokens: int | None
    """As reported by the model; None if it reports none or was not called."""
    completion_tokens: int | None
    finish: str | None
    """Why the model stopped: `stop`, `length` (token limit), `content_filter`, or another value of the provider."""
    notes: tuple[str, ...]
    """Notes on how the answer was made."""
    id: UUID | None = None
    """None for an answer that is not stored; so is its conversation."""
    conversation_id: UUID | None = None
    tool_calls: tuple[dict[str, Any], ...] = ()
    """Tools of the client that the model wants called, in OpenAI's form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """The citations again, with the model's judgements. Sent after the answer."""

    citations: tuple[Citation, ...]
    notes: tuple[str, ...] = ()

    def in_answer(self, answer: Answer) -> Answer:
        return replace(answer, citations=self.citations, notes=(*answer.notes, *self.notes))


Event: TypeAlias = Sources | str | Answer | Verified


class Chat:
    def __init__(
        self,
        store: Store,
        search: Search,
        answerer: Answerer,
        *,
        judge: ChatModel | None = None,
        verify: bool = False,
        evidence: Evidence | None = None,
        lightrag: LightragServers | None = None,
    ) -> None:
        """`judge` is the model that verifies citations, `verify` whether it does so unless a project or request says otherwise."""
        self._store = store
        self._search = search
        self._answerer = answerer
        self._judge = judge
        self._verify = verify
        self._evidence = evidence
        self._lightrag = lightrag

    async def answer(self, project_id: UUID, asked: Asked) -> Answer:
        """Raises ProjectNotFound, ModelError, and InvalidParameter if the message is too long for the model."""
        return await whole_answer(self.stream(project_id, asked))

    async def stream(self, project_id: UUID, asked: Asked) -> AsyncGenerator[Event, None]:
        """Yields the sources, the response in pieces, and the answer; last, if wanted, its verified citations.

        The pieces make up the response of the answer.
        """
        began = monotonic()
        config = (await self._store.projects.get(project_id)).config
        request, notes = await self._gather(project_id, asked, config)
        said = len(asked.message) + sum(len(turn.content) for turn in asked.history)
        said += sum(len(source.text) for source in request.sources)
        draft = await beside(said, self._draft, request)
        yield Sources(sources=draft.sources, model=self._answerer.name)
        citing = Verbatim() if asked.passed_on.wants_json else CitationStream(draft.sources)
        show = _Shown(masked=draft.masked, defused=config.get("media") != "allowed")
        completion: Completion | None = None
        try:
            async with aclosing(draft.parts) as parts:
                async for part in parts:
                    if isinstance(part, Completion):
                        completion = part
                    elif piece := show.feed(citing.feed(part)):
                        yield piece
        except WhenceError:  # send the text held back by the validator before the error
            if piece := show.close(citing.close()):
                yield piece
            raise
        if piece := show.close(citing.close()):
            yield piece
        validated = citing.validated
        if completion is None or (not completion.tool_calls and _is_left_empty(completion.text, validated)):
            raise ModelInvalid("The model's answer has no word besides citations")
        response = "".join(show.pieces)  # as long as the validated text, so offsets agree
        answer = Answer(
            response=response,
            messages=await beside(said, _conversation, asked, response, draft.sources),
            sources=draft.sources,
            citations=await self._citations(project_id, asked, validated, draft),
            removed=validated.removed,
            model=completion.model,
            seconds=monotonic() - began,
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
            finish=completion.finish,
            tool_calls=completion.tool_calls,
            notes=(*asked.notes, *notes, *_CUT_SHORT.get(completion.finish or "", ())),
        )
        yield answer
        if answer.citations and await self._is_to_verify(project_id, asked):
            yield await self._verify_citations(answer)

    async def _is_to_verify(self, project_id: UUID, asked: Asked) -> bool:
        if asked.verify is not None or self._judge is None:
            return bool(asked.verify)
        chosen = (await self._store.projects.get(project_id)).config.get("verify")
        return self._verify if chosen is None else bool(chosen)

    async def _verify_citations(self, answer: Answer) -> Verified:
        if self._judge is None:
            note = "The citations are not verified: there is no chat model (WHENCE_LLM_BASE_URL)"
            return Verified(citations=answer.citations, notes=(note,))
        try:
            async with asyncio.timeout(JUDGE_SECONDS):
                texts = {source.id: source.text for source in answer.sources if source.id}
                judged = await verify(self._judge, answer.response, answer.citations, texts)
                return Verified(citations=judged)
        except (ModelError, TimeoutError) as exc:
            why = exc.message if isinstance(exc, ModelError) else f"no answer within {JUDGE_SECONDS} s"
            note = f"The citations are not verified: {why}"
            return Verified(citations=answer.citations, notes=(note,))

    async def _gather(
        self, project_id: UUID, asked: Asked, config: Mapping[str, Any]
    ) -> tuple[AnswerRequest, tuple[str, ...]]:
        """The request to the answerer, and notes of the search and of LightRAG."""
        if is_small_talk(asked.message):
            return AnswerRequest(message=asked.message, sources=()), ()
        before = questions_followed_up(asked.message, asked.history)
        query = f"{asked.message} {before}" if before else asked.message
        question = Question(query=query, limit=asked.limit, filters=asked.filters, highlight=False)
        documents, most = None, MOST_OBJECTS
        if asked.filters is not None:
            documents = await self._store.documents.matching(project_id, asked.filters)
            most = MOST_FILTERED
        async with beside_search(self._ask_lightrag(project_id, asked, query, config)) as asking:
            found, named = await asyncio.gather(
                self._search.find(project_id, question), named_in(self._store, project_id, query, limit=most)
            )
            external = await asking
        sources = [Source.of_hit(hit) for hit in found.hits]
        # If no chunk is relevant, an object that is only similar to the question is not relevant either.
        near = await near_to(self._store, project_id, query, found.vector, limit=most) if sources else []
        ungrounded = asked.include_ungrounded
        facts = await facts_about(
            self._store, project_id, named, near, document_ids=documents, include_ungrounded=ungrounded
        )
        if facts:
            behind = await self._behind(project_id, facts, sources, found.vector)
            sources = [Source.of_graph(facts), *sources, *behind]
        sources = await self._with_lightrag(project_id, asked, external, sources, found.vector)
        request = AnswerRequest(
            message=asked.message,
            sources=tuple(sources),
            before=before,
            history=asked.history,
            language=found.language,
            corrected=replace_words(asked.message, found.corrections),
            passed_on=asked.passed_on,
        )
        return request, (*found.notes, *external.notes)

    async def _ask_lightrag(
        self, project_id: UUID, asked: Asked, query: str, config: Mapping[str, Any]
    ) -> LightragReply:
        servers = self._lightrag
        server = await servers.server(self._store, project_id, config) if servers else None
        if server is None:
            return LightragReply()
        if asked.filters is not None:
            return LightragReply(notes=("LightRAG was not asked: it knows no filters",))
        return await ask_lightrag(server, query)

    async def _with_lightrag(
        self,
        project_id: UUID,
        asked: Asked,
        reply: LightragReply,
        sources: list[Source],
        vector: QueryVector | None,
    ) -> list[Source]:
        """Adds LightRAG's answer in place of the graph's source, and its chunks as the last sources."""
        if reply.chunks:
            sources += await align_chunks(
                self._store, project_id, reply.chunks, sources, vector, limit=asked.limit
            )
        if reply.answer is None:
            return sources
        return [Source.of_answer(reply.answer), *(one for one in sources if not one.is_graph)]

    async def _behind(
        self, project_id: UUID, facts: Sequence[Fact], found: Sequence[Source], vector: QueryVector | None
    ) -> list[Source]:
        """Chunks that support the facts and were not found by search."""
        there = {source.id for source in found}
        wanted = dict.fromkeys(fact.chunk_id for fact in facts if fact.chunk_id not in there)
        ids = [UUID(chunk_id) for chunk_id in wanted if chunk_id][:_MOST_BEHIND]
        if not ids:
            return []
        space, value = (vector.space, vector.value) if vector else (None, None)
        reading = await self._store.hits.read(
            project_id, [one.bytes for one in ids], space=space, vector=value
        )
        read = [chunk for one in ids if (chunk := reading.get(one.bytes))]
        return [Source.of_chunk(chunk, chunk.distance) for chunk in read]

    def _draft(self, request: AnswerRequest) -> Draft:
        if (
            request.sources or request.passed_on.options
        ):  # only a model can reply in another form, or call a tool
            return self._answerer.draft(request)
        said = SMALL_TALK if is_small_talk(request.message) else NOTHING_FOUND
        return Draft(sources=(), parts=say(said))

    async def _citations(
        self, project_id: UUID, asked: Asked, validated: Validated, draft: Draft
    ) -> tuple[Citation, ...]:
        sources = draft.sources
        if not sources:  # there is nothing to cite
            return ()
        if draft.citations:
            found: Sequence[Citation] = draft.citations
        else:
            read = len(validated.text) + sum(len(one.text) for one in sources)
            found = await beside(read, support, validated, sources)
        paged = {UUID(one.document_id) for one in sources if one.document_id and one.page is not None}
        maps = await self._store.documents.pages(project_id, list(paged)) if paged else {}
        versions = {one.document_id: one.document_version for one in sources}
        found = tuple(
            replace(one, page=_page_of(one, maps), document_version=versions.get(one.document_id))
            for one in found
        )
        return await self._with_rects(project_id, found) if asked.include_rects else found

    async def _with_rects(self, project_id: UUID, found: tuple[Citation, ...]) -> tuple[Citation, ...]:
        spans = [TextSpan.of(one.document_id, one.start_offset, one.end_offset) for one in found]
        placed = await self._evidence.rects(project_id, list(filter(None, spans))) if self._evidence else {}
        return tuple(
            replace(one, pages=placed.get(span, ()) if span else ())
            for one, span in zip(found, spans, strict=True)
        )


class _Shown:
    """Prepares the validated text for readers: restores the documents' brackets, defuses markup that loads or runs something."""

    def __init__(self, *, masked: bool, defused: bool) -> None:
        self._restore = restore_brackets if masked else str
        self._markup = MarkupStream() if defused else None
        self.pieces: list[str] = []

    def feed(self, piece: str) -> str:
        return self._keep(self._markup.feed(self._restore(piece)) if self._markup else self._restore(piece))

    def close(self, piece: str) -> str:
        rest = self.feed(piece)
        return rest + self._keep(self._markup.close() if self._markup else "")

    def _keep(self, piece: str) -> str:
        self.pieces.append(piece)
        return piece


def _page_of(one: Citation, maps: Mapping[str, Sequence[Page]]) -> int | None:
    """The page on which the quote begins; without a quote, that of the chunk."""
    pages = maps.get(one.document_id or "")
    return one.page if one.start_offset is None or not pages else page_at(pages, one.start_offset)


async def whole_answer(stream: AsyncGenerator[Event, None]) -> Answer:
    """The answer at the end of a stream, with its verified citations."""
    answer: Answer | None = None
    async with aclosing(stream) as events:
        async for event in events:
            if isinstance(event, Answer):
                answer = event
            elif isinstance(event, Verified) and answer is not None:
                answer = event.in_answer(answer)
    assert answer is not None  # a stream without an answer raises
    return answer


def _is_left_empty(written: str, left: Validated) -> bool:
    """Whether the answer has no word besides citations and tags.

    A wordless answer that has no citations and that validation did not change, such as "…", counts as an answer.
    """
    if is_blank(left.text):
        return True
    has_word = any(map(str.isalnum, _TAG.sub("", without_citations(left.text))))
    return not has_word and (left.text != written or bool(left.cited))


def _conversation(asked: Asked, response: str, sources: Sequence[Source]) -> tuple[Message, ...]:
    """The history, the question and the response. Earlier answers keep only citations of the current sources."""
    before = [clean_turn(turn, but=sources) for turn in asked.history]
    return (*before, Message(role="user", content=asked.message), Message(role="assistant", content=response))
