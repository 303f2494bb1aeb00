"""When a text mentions a name, and which values are specific."""

import pytest

from whence.extract.evidence import ChunkEvidence, Words, is_specific


@pytest.mark.parametrize(
    ("text", "name"),
    [("the authors write", "Authority"), ("marketing plans", "Market"), ("We operate it.", "Operator")],
)
def test_a_related_word_is_no_mention(text: str, name: str) -> None:
    assert not Words(text).mentions(name)


@pytest.mark.parametrize(("text", "name"), [("both databases", "Database"), ("our policies", "Policy")])
def test_a_plural_is_a_mention(text: str, name: str) -> None:
    assert Words(text).mentions(name)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("zero trust", False), ("third party", False), ("twelve months", True), ("ninety days", True)],
)
def test_which_number_words_are_specific(value: str, *, expected: bool) -> None:
    assert is_specific(value, value) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Lake Mora has a depth of 88 metres.", True),
        ("The lake is not deep. Lake Mora has a depth of 88 metres.", True),
        ("Lake Mora does not have a depth of 88 metres.", False),
        ("It is wrong that Lake Mora has a depth of 88 metres.", False),
    ],
)
def test_a_denial_confirms_nothing(text: str, *, expected: bool) -> None:
    evidence = ChunkEvidence(text, [])
    assert (evidence.confirming("88 metres", of="Lake Mora", is_named=True) is not None) is expected
