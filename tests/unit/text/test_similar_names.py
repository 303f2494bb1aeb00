"""Names that may mean the same, each with its reason, and names that do not."""

import pytest

from whence.text.similar_names import similar_names


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("ASEAN", "Association of Southeast Asian Nations", "initials"),
        ("UNESCO", "United Nations Educational, Scientific and Cultural Organization", "initials"),
        ("BoE", "Bank of England", "initials"),
        ("API", "application programming interface", "initials"),
        ("EU", "European Union", "initials"),
        ("Ministry of Finance", "Ministry of Finance of Singapore", "containment"),
        ("Lindqvist", "Anna Lindqvist", "containment"),
        ("Harbour Master", "Harbor Master", "spelling"),
        ("Receive Gate", "Recieve Gate", "spelling"),
        ("Data base", "Database", "spelling"),
    ],
)
def test_two_names_are_alike_for_a_reason(one: str, other: str, reason: str) -> None:
    ((first, second, found, score),) = similar_names([one, "Something Else Altogether", other])
    assert {first, second} == {0, 2}
    assert found == reason
    assert 0 < score < 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Phase 1", "Phase 2"),
        ("Windows", "Windows 10"),
        ("Plan A", "Plan B"),
        ("Iran", "Ireland"),
        ("CAN", "Corporate Network"),
        ("Nato", "Grand Old Nation"),
        ("IT", "a very long title that has no capital letters at all"),
        ("", "!"),
        ("C", "C++"),
        ("AGBL", "CGBL"),
        ("Donna Murphy", "Ann Adams and Donna Murphy"),
        ("Royal Academy", "Royal Scottish Academy"),
        ("Times", "The New York Times"),
    ],
)
def test_two_names_are_not_alike(one: str, other: str) -> None:
    assert list(similar_names([one, other])) == []


def test_a_word_that_many_names_have_is_a_general_term() -> None:
    assert (
        list(similar_names(["Gateway", *(f"{kind} Gateway" for kind in ("Pay", "Mail", "Voice", "Data"))]))
        == []
    )


def test_the_cost_does_not_grow_with_the_number_of_pairs() -> None:
    """A hundred times a hundred names of the same words: all pairs would be fifty million."""
    names = [f"Unit Number {one:02} of Hall {other:02}" for one in range(100) for other in range(100)]
    assert list(similar_names(names)) == []
