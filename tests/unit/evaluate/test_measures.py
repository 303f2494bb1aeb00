"""The measures of `whence eval`."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.texts import texts

from whence.api.evaluation import EvalReport, ExpectedPassage, QuestionMeasures
from whence.chat import Answer, Citation, Source
from whence.evaluate.measures import (
    JudgedChunk,
    cites,
    compare,
    first_rank,
    is_valid,
    overlap,
    recall,
    shares_text,
    support_levels,
    total,
)
from whence.extract.scheduling import Prices
from whence.models import Page, now

CHUNK, DOCUMENT = "0190a1b2-7c3d-7e4f-8a5b-00000000000a", "0190a1b2-7c3d-7e4f-8a5b-0000000000d0"
TEXT = "The bridge was built in 1874. It is 120 metres long and made of iron. The mayor opened it in May."
SOURCE = Source(id=CHUNK, document_id=DOCUMENT, text=TEXT, name="bridge.pdf", page=2, start=100)
ENDS = (0, 100, 140, 300, 400)
PAGES = tuple(
    Page(number=number, start=start, end=end) for number, (start, end) in enumerate(pairwise(ENDS), 1)
)
CANDIDATE = JudgedChunk(sources=(SOURCE,), pages={DOCUMENT: PAGES})


@pytest.mark.parametrize(
    ("passage", "is_met"),
    [
        ({"document": "bridge.pdf"}, True),
        ({"document": DOCUMENT.upper()}, True),
        ({"document": "Bridge"}, False),
        ({"page": 2}, True),
        ({"page": 3}, True),
        ({"page": 1}, False),
        ({"page": 4}, False),
        ({"text": "it is 120\n metres LONG"}, True),
        ({"text": "It is 130 metres long"}, False),
        ({"document": "bridge.pdf", "page": 3, "text": "made of iron"}, True),
        ({"document": "bridge.pdf", "page": 4, "text": "made of iron"}, False),
        ({"document": "rome.pdf", "text": "made of iron"}, False),
    ],
)
def test_a_chunk_meets_every_field_of_a_passage(passage: dict[str, Any], is_met: bool) -> None:
    assert CANDIDATE.has(ExpectedPassage(**passage)) is is_met


def test_a_text_that_is_cut_between_chunks_is_in_the_one_with_half_of_it() -> None:
    wanted = "The bridge was built in 1874. It is 120 metres long and made of iron."
    assert shares_text(wanted, "a bridge was built in 1874. It is 120 metres long and")
    assert shares_text(f"{TEXT} {TEXT}", TEXT)
    assert not shares_text(wanted, "It is made of iron")
    assert shares_text("东京是日本的首都", "东京是日本的首都。")


@given(text=texts(), before=texts(), after=texts())
def test_a_text_is_in_every_chunk_around_it(text: str, before: str, after: str) -> None:
    assert shares_text(text, f"{before} {text} {after}")


def test_rank_and_recall() -> None:
    other = JudgedChunk(sources=(Source(id="b", text="Rome was founded in 753 BC.", name="rome.md"),))
    iron, rome = ExpectedPassage(text="made of iron"), ExpectedPassage(document="rome.md")
    assert first_rank([iron], [other, CANDIDATE]) == 2
    assert first_rank([iron, rome], [other, CANDIDATE]) == 1
    assert first_rank([iron], [other]) is None
    assert recall([iron, rome], [CANDIDATE]) == 0.5
    assert recall([iron, rome], [CANDIDATE, other]) == 1
    assert recall([], [CANDIDATE]) is None
    copied = JudgedChunk(sources=(*other.sources, SOURCE), pages={DOCUMENT: PAGES})
    assert copied.has(ExpectedPassage(document="bridge.pdf", page=3))


@given(ours=texts(), theirs=texts())
def test_overlap_is_a_share_and_the_same_both_ways(ours: str, theirs: str) -> None:
    f1, found = overlap(ours, theirs)
    assert 0 <= f1 <= 1
    assert 0 <= found <= 1
    assert overlap(theirs, ours)[0] == f1
    assert overlap(ours, ours) in ((1, 1), (0, 0))  # a text without words has none in common
    assert overlap(f"{ours} {theirs}", theirs)[1] in (0, 1)


def test_overlap_counts_words_not_forms() -> None:
    assert overlap("It was built in 1,874.", "1874: it is BUILT") == (1, 1)
    f1, found = overlap("The iron bridge is 120 metres long.", "120 metres")
    assert (round(f1, 2), found) == (0.57, 1)
    assert overlap("No.", "no") == (1, 1)
    assert overlap("No, there is none.", "no") == (0.4, 1)


def citation(**fields: Any) -> Citation:
    return Citation(response_start=0, response_end=9, **fields)


def test_a_citation_is_valid_if_its_quote_is_at_its_place_in_a_source() -> None:
    start = 100 + TEXT.index("It is")
    place = {"start_offset": start, "end_offset": start + 5}
    assert is_valid(citation(chunk_id=CHUNK, quote="It is", **place), [SOURCE])
    assert is_valid(citation(chunk_id=CHUNK), [SOURCE])
    assert not is_valid(citation(chunk_id=CHUNK, quote="It was", **place), [SOURCE])
    assert not is_valid(citation(chunk_id="x", quote="It is", **place), [SOURCE])
    assert not is_valid(citation(chunk_id=CHUNK, quote="Rome"), [SOURCE])


def test_an_answer_cites_a_passage_by_its_page() -> None:
    cited = citation(chunk_id=CHUNK, page=3, support_level="verbatim", supported=True)
    answer = Answer(
        response="…",
        messages=(),
        sources=(SOURCE,),
        citations=(cited, citation()),
        removed=0,
        model="test",
        seconds=1,
        prompt_tokens=None,
        completion_tokens=None,
        finish=None,
        notes=(),
    )
    assert cites([ExpectedPassage(document="bridge.pdf", page=3)], answer)
    assert not cites([ExpectedPassage(document="bridge.pdf", page=2)], answer)
    assert not cites([ExpectedPassage(document="rome.md")], answer)
    assert support_levels(answer.citations) == {
        "verbatim": 1,
        "close": 0,
        "loose": 0,
        "none": 0,
        "uncited": 1,
    }


def measured(question: str, **fields: Any) -> QuestionMeasures:
    usual = {"line": 1, "answerable": True, "hits": 5, "rank": 1, "recall": 1.0, "search_ms": 10, "notes": []}
    return QuestionMeasures(question=question, **{**usual, **fields})


def answered(question: str, *, cited: int = 1, **fields: Any) -> QuestionMeasures:
    return measured(question, support={"verbatim": cited, "uncited": 1}, answer_ms=100, **fields)


def report(*results: QuestionMeasures, prices: Prices | None = None) -> EvalReport:
    totals = total(results, prices=prices or Prices(), seconds=2)
    return EvalReport(
        version="1",
        created_at=now(),
        project="default",
        mode="hybrid",
        k=5,
        answerer=None,
        totals=totals,
        results=list(results),
    )


def test_totals_of_a_search() -> None:
    totals = report(
        measured("a"),
        measured("b", rank=2, recall=0.5, search_ms=30),
        measured("c", rank=None, recall=0.0, hits=0),
        measured("d", answerable=False, hits=3, rank=None, recall=None),
        measured("e", answerable=False, hits=0, rank=None, recall=None),
    ).totals
    assert (totals.questions, totals.answerable) == (5, 3)
    assert (totals.recall, totals.mean_reciprocal_rank) == (0.5, 0.5)
    assert totals.hit_rate == pytest.approx(2 / 3)
    assert (totals.false_empties, totals.false_finds, totals.search_ms) == (1, 1, 10)
    assert (totals.unanswered, totals.false_answers, totals.citations, totals.answer_ms) == (None,) * 4
    assert (totals.price, totals.support) == (None, {})


def test_totals_of_answers() -> None:
    totals = report(
        answered("a", overlap=0.5, citations=4, valid_citations=3, prompt_tokens=900, completion_tokens=50),
        answered("b", cited=0, overlap=1.0, prompt_tokens=100, completion_tokens=50),
        answered("c", answerable=False),
        answered("d", answerable=False, cited=0),
        measured("e", error="The model failed"),
        prices=Prices(prompt=2, completion=10),
    ).totals
    assert (totals.unanswered, totals.false_answers, totals.failed) == (1, 1, 1)
    assert (totals.answer_overlap, totals.citation_validity, totals.citations) == (0.75, 0.75, 4)
    assert totals.support == {"verbatim": 2, "uncited": 4}
    assert (totals.prompt_tokens, totals.completion_tokens, totals.price) == (1000, 100, 0.003)


def test_runs_are_compared_question_by_question_and_in_total() -> None:
    before = report(measured("a"), measured("b", rank=None, recall=0.0), measured("gone"))
    after = report(measured("a", search_ms=99), measured("b", rank=3, recall=1.0), measured("new"))
    found = compare(before, after)
    assert [one.question for one in found.questions] == ["b"]
    assert found.questions[0].changes["rank"].as_json() == {"before": None, "after": 3}
    assert (found.added, found.removed) == (["new"], ["gone"])
    assert found.totals["recall"].after == 1
    assert "falseEmpties" not in found.totals


@given(ranks=st.lists(st.none() | st.integers(1, 5), min_size=1, max_size=9))
def test_a_run_compared_with_itself_has_no_difference_and_shares_stay_in_order(
    ranks: list[int | None],
) -> None:
    run = report(
        *(
            measured(str(number), rank=rank, recall=float(rank is not None))
            for number, rank in enumerate(ranks)
        )
    )
    found = compare(run, EvalReport.model_validate_json(run.encode()))
    assert (found.totals, found.questions, found.added, found.removed) == ({}, [], [], [])
    totals = run.totals
    assert 0 <= (totals.mean_reciprocal_rank or 0) <= (totals.hit_rate or 0) <= 1
    assert totals.recall == totals.hit_rate


@pytest.mark.parametrize(
    ("wanted", "chunk", "has"),
    [
        ("5 kW", "The pump has 45 kW of power.", False),
        ("45 kW", "The pump has 45\nkW of power.", True),
        ("No", "The norm applies to all.", False),
        ("art is", "An artist painted it.", False),
        ("東京都", "首都は東京都です。", True),
        ("東京都", "首都は東京\n都です。", False),
    ],
)
def test_short_texts_are_found_as_whole_words(wanted: str, chunk: str, has: bool) -> None:
    assert shares_text(wanted, chunk) is has
