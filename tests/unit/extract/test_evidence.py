"""When a text mentions a name, and which values are specific."""

from uuid import UUID

import pytest

from whence.extract.context import KnownObject
from whence.extract.evidence import ChunkEvidence
from whence.extract.mentions import Mentions
from whence.extract.name_words import Words
from whence.extract.specific import is_specific
from whence.text.aliases import TypedName


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


MORA = KnownObject(id=UUID(int=1), type="Place", name="Lake Mora", name_key="lake mora", properties={})


def _telling_apart(text: str, *names: str) -> ChunkEvidence:
    evidence = ChunkEvidence(text, [])
    objects = [TypedName("Place", name) for name in names]
    mentions = Mentions(text, [], before="", known=[], proposed=objects, find=evidence.find)
    evidence.tell_apart(objects, mentions)
    return evidence


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Lake Mora has a depth of 88 metres.", True),
        ("Lake Mora is cold. It has a depth of 88 metres.", True),
        ("# Lake Mora\n\n- Depth: 88 metres", True),
        ("| Lake | Depth |\n|---|---|\n| Lake Mora | 88 metres |\n| Lake Sunna | 12 metres |", True),
        ("The lake is not deep. Lake Mora has a depth of 88 metres.", True),
        ("Lake Mora does not have a depth of 88 metres.", False),
        ("Lake Sunna has a depth of 88 metres. Lake Mora is smaller.", False),
        ("Lake Mora is smaller. Lake Sunna has a depth of 88 metres.", False),
        ("Lake Sunna has a depth of 88 metres, more than Lake Mora.", False),
        ("Lake Mora is smaller than Lake Sunna with its 88 metres.", False),
        ("Lake Sunna lies in the north of Lake Mora. It has a depth of 88 metres.", False),
        ("| Lake | Depth |\n|---|---|\n| Lake Mora | 12 metres |\n| Lake Sunna | 88 metres |", False),
        ("Lake Mora is cold.\n\nThe depth is 88 metres.", False),
    ],
)
def test_a_value_is_confirmed_by_a_sentence_about_its_object(text: str, *, expected: bool) -> None:
    evidence = _telling_apart(text, "Lake Mora", "Lake Sunna")
    found = evidence.confirming("88 metres", MORA, "depth", is_named=True)
    assert (found is not None) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Lake Mora has a depth of 88 metres.", True),
        ("Lake Sunna is cold. The depth of the other one is 88 metres, says Lake Mora's page.", True),
        ("Lake Sunna is cold.\n\nThe depth is 88 metres.", True),
        ("The depth is 88 metres. Lake Sunna is cold.", True),
        ("It is 88 metres deep, Lake Sunna 12 metres.", True),
        ("Lake Sunna has a depth of 88 metres. Lake Mora is smaller.", False),
        ("Lake Mora is smaller. Lake Sunna is cold. It has a depth of 88 metres.", False),
        ("# Lake Mora\n\nIt is small.\n\n# Lake Sunna\n\nThe depth is 88 metres.", False),
    ],
)
def test_words_about_another_object_of_the_type_are_no_evidence(text: str, *, expected: bool) -> None:
    evidence = _telling_apart(text, "Lake Mora", "Lake Sunna")
    assert (evidence.place("88 metres", of="Lake Mora") is not None) is expected
