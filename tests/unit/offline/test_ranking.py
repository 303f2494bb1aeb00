"""Which units of the found chunks answer a question."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st
from tests.texts import FRAGMENTS

from whence.chat import Source
from whence.offline.ranking import MAX_QUOTES, best_units

TEXTS = st.lists(st.sampled_from([*FRAGMENTS, "ferry ", "Narvik. ", "2024 ", "leaves at nine. "])).map(
    "".join
)


def found(text: str, *, score: float = 0.5, name: str = "a.md") -> Source:
    one = str(UUID(int=len(text)))
    return Source(id=one, document_id=one, chunk_index=0, text=text, name=name, distance=None, score=score)


def best(question: str, *sources: Source, before: str = "") -> list[str]:
    chosen = best_units(question, before, sources, "english")
    return [one.text for one in chosen]


@given(TEXTS, st.lists(TEXTS, max_size=4), st.sampled_from(["english", "spanish", "simple"]))
def test_the_best_come_first_few_and_each_text_once(question: str, texts: list[str], language: str) -> None:
    sources = [found(text) for text in texts]
    chosen = best_units(question, "", sources, language)
    assert len(chosen) <= MAX_QUOTES
    assert [one.score for one in chosen] == sorted((one.score for one in chosen), reverse=True)
    said = [" ".join(one.text.split()) for one in chosen]
    assert len(set(said)) == len(said)


def test_the_share_of_the_words_decides_between_sentences_of_a_chunk() -> None:
    assert best("When does the ferry leave?", found("The ferry is red. The ferry leaves at nine.")) == [
        "The ferry leaves at nine."
    ]


def test_the_score_of_the_hit_decides_between_equal_sentences() -> None:
    low = found("The ferry leaves at nine.", score=0.2)
    high = found("The ferry leaves at noon, always.", score=0.7)
    assert best("When does the ferry leave?", low, high) == ["The ferry leaves at noon, always."]


def test_nothing_is_quoted_below_the_floor() -> None:
    assert best("Which enzymes catalyse the ferry?", found("The ferry leaves at nine.")) == []
    assert best("Which ferry?", found("The ferry leaves at nine.")) == ["The ferry leaves at nine."]
    assert best("???", found("The ferry leaves at nine.")) == []
    assert best("When does the ferry leave?") == []


def test_a_follow_up_has_a_word_of_its_own() -> None:
    chunk = found("Books are lent for four weeks. The storm broke the roof.")
    asked = "How long are books lent?"
    assert best("When was the storm?", chunk, before=asked) == ["The storm broke the roof."]
    assert best("Why?", chunk, before=asked) == ["Books are lent for four weeks."]
    assert best("Who is the mayor?", chunk, before=asked) == []


def test_other_years_are_left_out() -> None:
    chunk = found("Sales were 4 in 2023. Sales were 5 in 2024. Sales grow.", name="sales.md")
    assert best("What were sales in 2024?", chunk)[0] == "Sales were 5 in 2024."
    assert "Sales were 4 in 2023." not in best("What were sales in 2024?", chunk)
    assert best("What were sales in 2024?", found("Sales were 4.", name="report_2023.md")) == []
    assert best("What were sales in 2024?", found("Sales were 4.", name="report_2024.md")) == [
        "Sales were 4."
    ]


def test_code_only_for_who_asks_for_it() -> None:
    chunk = found("Sales:\n\n```sql\nselect sales from ferry\n```\n")
    assert best("Which script selects sales of the ferry?", chunk)[0].startswith("```sql")
    assert not any("```" in one for one in best("Whose sales has the ferry?", chunk))


def test_a_word_for_code_counts_where_there_is_no_other() -> None:
    assert best("What is a script?", found("A script is a file. A file has lines.")) == [
        "A script is a file."
    ]


def test_the_question_of_a_long_message_counts() -> None:
    letter = "Dear all, thank you for the parcel with the red cups and the ribbon. " * 8
    chunk = found("The cups of the parcel are red. The ferry leaves at nine.")
    assert best(f"{letter}\n\nWhen does the ferry leave?", chunk)[0] == "The ferry leaves at nine."
