"""Footnotes of an answer in OpenAI's form."""

from whence.api.annotations import StyledAnswer
from whence.chat import Answer, Citation, Source

CHUNK = "0190a1b2-7c3d-7e4f-8a5b-000000000001"


def cited(sentence: int, page: int, quote: str) -> Citation:
    return Citation(
        response_start=sentence, response_end=sentence + 1, chunk_id=CHUNK, page=page, quote=quote
    )


def test_a_footnote_gives_each_quote_its_own_page() -> None:
    """A chunk may reach over two pages."""
    source = Source(id=CHUNK, text="", name="harbour.pdf", page=1)
    answer = Answer(
        response=f"It is old [{CHUNK}].",
        messages=(),
        sources=(source,),
        citations=(cited(0, 1, "Dug in 1911."), cited(1, 2, "Shut in 1950."), cited(2, 1, "Dug in 1911.")),
        removed=0,
        model="test",
        seconds=0,
        prompt_tokens=None,
        completion_tokens=None,
        finish=None,
        notes=(),
    )
    text = StyledAnswer(answer.sources, "number", footnotes=True).whole(answer)
    note = "[1] harbour.pdf, page 1: “Dug in 1911.”; harbour.pdf, page 2: “Shut in 1950.”"
    assert text == f"It is old [1].\n\n{note}"
