"""Asks the questions: one search per question, and an answer as `whence ask` gives it, not verified by the model."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from time import monotonic
from uuid import UUID

from whence.api.evaluation import EvalQuestion, QuestionMeasures
from whence.api.values import canonical_uuid
from whence.chat import Answer, Asked, Chat, Source
from whence.chat.citing import without_citations
from whence.errors import DocumentNotFound, InvalidParameter, ModelError
from whence.evaluate.files import Questions, wrong_line, wrong_lines
from whence.evaluate.measures import JudgedChunk, cites, first_rank, is_valid, overlap, recall, support_levels
from whence.search import Hit, Mode, Question, Search
from whence.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    store: Store
    search: Search
    chat: Chat | None
    """None measures search alone."""
    project_id: UUID
    mode: Mode
    k: int
    """Number of hits that count."""

    async def check(self, questions: Questions, name: str) -> None:
        """Raises BadInput if an expected document is not in the project: it could never be found."""
        problems = [
            wrong_line(number, "document", passage.document, "the name or id of a document of the project")
            for number, one in questions.items()
            for passage in one.passages
            if passage.document is not None and not await self._has(passage.document)
        ]
        if problems:
            raise wrong_lines(name, problems)

    async def _has(self, document: str) -> bool:
        if await self.store.documents.named(self.project_id, document):
            return True
        if (ident := canonical_uuid(document)) is None:
            return False
        try:
            await self.store.documents.get(UUID(ident), project_id=self.project_id)
        except DocumentNotFound:
            return False
        return True

    async def results(self, questions: Questions) -> AsyncIterator[QuestionMeasures]:
        """The measures of each question, in order. Raises ModelError if the model fails before its first answer."""
        has_answer = False
        for number, one in questions.items():
            found = await self._find(number, one)
            if self.chat is not None:
                try:
                    answer = await self.chat.answer(
                        self.project_id, Asked(message=one.question, verify=False)
                    )
                    found = found.model_copy(update=_measure_answer(one, answer, found.notes))
                    has_answer = True
                except (ModelError, InvalidParameter) as exc:
                    if isinstance(exc, ModelError) and not has_answer:
                        raise
                    found = found.model_copy(update={"error": exc.message})
            yield found

    async def _find(self, number: int, one: EvalQuestion) -> QuestionMeasures:
        began = monotonic()
        question = Question(query=one.question, mode=self.mode, limit=self.k, highlight=False)
        found = await self.search.find(self.project_id, question)
        taken = monotonic() - began
        ranked = await self._judge_hits(found.hits)
        return QuestionMeasures(
            line=number,
            question=one.question,
            answerable=one.answerable,
            hits=len(found.hits),
            rank=first_rank(one.passages, ranked),
            recall=recall(one.passages, ranked),
            search_ms=round(taken * 1000, 1),
            notes=list(found.notes),
        )

    async def _judge_hits(self, hits: Sequence[Hit]) -> list[JudgedChunk]:
        chunks = [
            (Source.of_hit(hit), *(Source.of_chunk(other, None) for other in hit.also_in)) for hit in hits
        ]
        every = [source for sources in chunks for source in sources]
        paged = {UUID(one.document_id) for one in every if one.document_id and one.page is not None}
        pages = await self.store.documents.pages(self.project_id, list(paged)) if paged else {}
        return [JudgedChunk(sources=sources, pages=pages) for sources in chunks]


def _measure_answer(one: EvalQuestion, answer: Answer, notes: Sequence[str]) -> dict[str, object]:
    written = [cited for cited in answer.citations if cited.chunk_id and cited.origin == "model"]
    response = without_citations(answer.response)
    f1, share = overlap(response, one.answer) if one.answer else (None, None)
    return {
        "notes": list(dict.fromkeys([*notes, *answer.notes])),
        "response": response,
        "overlap": f1,
        "answer_recall": share,
        "cites_expected": cites(one.passages, answer) if one.passages else None,
        "citations": len(written) + answer.removed,
        "valid_citations": sum(is_valid(cited, answer.sources) for cited in written),
        "support": support_levels(answer.citations),
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.completion_tokens,
        "answer_ms": round(answer.seconds * 1000, 1),
    }
