"""Questions to measure a project with, and the report of a run."""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import Field, ValidationInfo, field_validator

from whence.api.base import CamelShape, RequestShape
from whence.api.values import Flag, whole, wrong
from whence.api.values import text as text_of
from whence.search import MAX_QUERY, Mode

MAX_TEXT = 100_000
MAX_PASSAGES = 100


class ExpectedPassage(RequestShape):
    """A passage that answers the question. A chunk must meet every field that is given."""

    document: Annotated[str | None, text_of(1000)] = Field(
        default=None, description="The file's name, or the id."
    )
    page: Annotated[int | None, whole(1, 1_000_000)] = None
    text: Annotated[str | None, text_of(MAX_TEXT)] = Field(
        default=None, description="Words of the passage, as the document has them."
    )

    @property
    def is_empty(self) -> bool:
        return self.document is None and self.page is None and self.text is None


class EvalQuestion(ExpectedPassage):
    """One line of a file of questions."""

    question: Annotated[str, text_of(MAX_QUERY)]
    answer: Annotated[str | None, text_of(MAX_TEXT)] = None
    expected: list[ExpectedPassage] = Field(
        default=[], max_length=MAX_PASSAGES, description="Further passages, if one is not enough."
    )
    answerable: Flag = Field(default=True, validate_default=True, description="False: nothing may be found.")

    @field_validator("expected", mode="after")
    @classmethod
    def _require_fields(cls, given: list[ExpectedPassage]) -> list[ExpectedPassage]:
        if any(passage.is_empty for passage in given):
            raise wrong("passages with a document, a page or a text")
        return given

    @field_validator("answerable", mode="after")
    @classmethod
    def _require_passages(cls, answerable: bool, info: ValidationInfo) -> bool:
        given = [name for name in ("document", "page", "text", "expected", "answer") if info.data.get(name)]
        if answerable and not set(given) - {"answer"}:
            raise wrong("false, or the line must have a document, a page or a text")
        if given and not answerable:
            raise wrong(f"true, or the line must have no {given[0]}")
        return answerable

    @property
    def passages(self) -> list[ExpectedPassage]:
        own = ExpectedPassage(document=self.document, page=self.page, text=self.text)
        return [*([] if own.is_empty else [own]), *self.expected]


class QuestionMeasures(CamelShape):
    """The measures of one question. Those of the answer are absent without one."""

    line: int
    question: str
    answerable: bool
    hits: int
    rank: int | None = Field(description="Rank of the first hit that has an expected passage.")
    recall: float | None = Field(description="Share of the expected passages in the first k hits.")
    search_ms: float
    notes: list[str] = Field(description="Remarks on the search and the answer.")
    response: str = ""
    overlap: float | None = Field(default=None, description="F1 of the words of both answers.")
    answer_recall: float | None = Field(default=None, description="Share of the expected answer's words.")
    cites_expected: bool | None = None
    citations: int = Field(default=0, description="Citations that the answerer wrote.")
    valid_citations: int = Field(default=0, description="Citations that have a source and a quote from it.")
    support: dict[str, int] = Field(default={}, description="Sentences by level; `uncited` have no source.")
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    answer_ms: float | None = None
    error: str | None = Field(default=None, description="The reason if there is no answer.")

    @property
    def found(self) -> bool:
        return self.hits > 0

    @property
    def cited(self) -> bool:
        """Whether the answer has a source."""
        return any(count for level, count in self.support.items() if level != "uncited")


class EvalTotals(CamelShape):
    """The measures of all questions. Null where no question has the measure."""

    questions: int
    answerable: int
    recall: float | None
    hit_rate: float | None
    mean_reciprocal_rank: float | None
    false_empties: int = Field(description="Answerable questions without a hit.")
    false_finds: int | None = Field(description="Unanswerable questions with a hit.")
    unanswered: int | None = Field(description="Answerable questions whose answer has no source.")
    false_answers: int | None = Field(description="Unanswerable questions whose answer has a source.")
    failed: int
    answer_overlap: float | None
    answer_recall: float | None
    cites_expected: float | None
    citations: int | None
    citation_validity: float | None
    support: dict[str, int]
    prompt_tokens: int | None
    completion_tokens: int | None
    price: float | None
    search_ms: float = Field(description="Median.")
    answer_ms: float | None = Field(description="Median.")
    seconds: float = Field(description="Of the whole run.")


class Change(CamelShape):
    before: Any
    after: Any


class QuestionChanges(CamelShape):
    question: str
    changes: dict[str, Change]


class Comparison(CamelShape):
    """The differences from an earlier run. EvalTotals and questions that did not change are left out."""

    totals: dict[str, Change]
    questions: list[QuestionChanges]
    added: list[str]
    removed: list[str]


class EvalReport(CamelShape):
    version: str = Field(description="Of Whence.")
    created_at: datetime
    project: str
    mode: Mode
    k: int
    answerer: str | None = Field(description="Null if nothing was answered.")
    totals: EvalTotals
    results: list[QuestionMeasures]
    comparison: Comparison = Field(default=None)  # type: ignore[assignment]  # absent, but never null

    def compared(self, comparison: Comparison) -> Self:
        return self.model_copy(update={"comparison": comparison})
