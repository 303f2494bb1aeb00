"""What the rules name things by: different things have different names, and one thing has one."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.extract import DEFAULT_SCHEMA, ChunkText, ExtractionContext, name_key, propose
from whence.extract.rules.shorten import shortened


def found(text: str, *, headings: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    primary = ChunkText(id=UUID(int=1), text=text, headings=headings)
    return list(propose(DEFAULT_SCHEMA, ExtractionContext(primary=primary))["objects"])


def names(text: str, type_: str = "Requirement", *, headings: tuple[str, ...] = ()) -> list[str]:
    return [each["name"] for each in found(text, headings=headings) if each["type"] == type_]


LOGIN = "The system shall write an audit record to the central log store for every {} login of a user."
REPORT = "Provider shall deliver to the head office of Customer in London a complete written report on {}."
PARTIES = 'Between Acme Ltd ("Customer") and Blue Anchor GmbH ("Provider").\n\n'
LONG = (
    "The system shall compare every invoice that is received from a supplier whose address is in the European Union with the orders of the {} "
    "quarter of the year, and tell the accountant in charge of the supplier within thirty (30) days of the receipt."
)


class TestSentences:
    def test_two_that_begin_alike_are_two(self) -> None:
        text = f"- {LOGIN.format('successful')}\n- {LOGIN.format('failed')}"
        assert names(text) == [LOGIN.format("successful")[:-1], LOGIN.format("failed")[:-1]]
        assert names(f"- {LOGIN.format('failed')}") == names(text)[1:]

    def test_so_are_two_duties(self) -> None:
        one, other = REPORT.format("security incidents"), REPORT.format("financial results")
        assert names(f"{PARTIES}{one}\n\n{other}") == [one[:-1], other[:-1]]

    def test_so_are_two_long_ones_that_end_alike_too(self) -> None:
        one, other = names(f"{LONG.format('first')}\n\n{LONG.format('second')}")
        assert name_key(one) != name_key(other)
        head, _, tail = one.partition(" … ")
        assert head == "The system shall compare every invoice that is received from a supplier whose address"
        assert tail.startswith("within thirty (30) days of the receipt [")
        assert names(LONG.format("first")) == [one]

    def test_a_row_without_a_number_is_named_like_a_sentence(self) -> None:
        row = f"| Requirement | Status |\n|---|---|\n| {LONG.format('first')} | open |"
        assert names(row) == names(LONG.format("first"))

    @given(st.text(max_size=400), st.text(max_size=400))
    def test_names_fit_and_differ(self, one: str, other: str) -> None:
        assert len(shortened(one)) <= 200
        assert name_key(one) == name_key(other) or name_key(shortened(one)) != name_key(shortened(other))

    @pytest.mark.parametrize("text", ["x" * 500, "of " * 200, "(a " * 200])
    def test_whatever_it_is(self, text: str) -> None:
        assert 1 < len(shortened(text)) <= 200
