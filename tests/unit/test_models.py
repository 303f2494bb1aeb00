"""Ids that sort by creation; what a caller may do; what a name is."""

import time
from itertools import pairwise
from uuid import RFC_4122, UUID

import pytest

from whence.models import (
    DEFAULT_PROJECT_ID,
    is_blank,
    new_id,
    project_name,
)
from whence.store.keys import EVERYONE, SCOPES, Caller


def test_ids_are_uuid7() -> None:
    before = time.time_ns() // 1_000_000
    made = new_id()
    assert made.version == 7
    assert made.variant == RFC_4122
    assert before <= made.int >> 80 <= time.time_ns() // 1_000_000
    assert UUID(str(made)) == made
    assert DEFAULT_PROJECT_ID.version == 7


def test_ids_are_unique_and_in_order() -> None:
    made = [new_id() for _ in range(100_000)]
    assert all(first < second for first, second in pairwise(made))
    texts = [str(ident) for ident in made]
    assert texts == sorted(texts)


def test_ids_stay_in_order_when_the_clock_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    first = new_id()
    monkeypatch.setattr(time, "time_ns", lambda: 1_000_000_000)
    assert new_id() > first
    assert new_id().version == 7


@pytest.mark.parametrize("index", range(len(SCOPES)))
def test_a_scope_includes_those_before_it(index: int) -> None:
    caller = Caller(project_id=None, scope=SCOPES[index])
    assert [caller.may(scope) for scope in SCOPES] == [other <= index for other in range(len(SCOPES))]
    assert EVERYONE.may(SCOPES[index])


IDENT = "0190a1b2-7c3d-7e4f-8a5b-000000000001"


def test_names() -> None:
    assert project_name("  Ünïcödé 🙂 ") == "Ünïcödé 🙂"
    assert project_name("x" * 200)
    for text in ("", " ", "\u200b", "a\nb", "a\0b", "\udcff", "x" * 201):
        with pytest.raises(ValueError, match=r"^a name "):
            project_name(text)


@pytest.mark.parametrize(
    "name", [IDENT, IDENT.upper(), IDENT.replace("-", ""), f" {IDENT} ", f"urn:uuid:{IDENT}"]
)
def test_a_name_is_no_id(name: str) -> None:
    with pytest.raises(ValueError, match=r"^a name that is no UUID"):
        project_name(name)
    assert project_name(f"copy of {IDENT}") == f"copy of {IDENT}"


INVISIBLE = [
    *"\t\n\v\f\r \x00\x1f\x85\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u180e\u2000\u2003\u200b\u200c\u200d\u200e\u200f",
    *"\u2028\u2029\u202a\u202e\u202f\u205f\u2060\u2064\u2066\u206f\u2800\u3000\u3164\ufe00\ufe0f\ufeff\uffa0\ufff9\ufffb",
    *"\U0001d173\U000e0001\U000e0020\U000e0100",
]


@pytest.mark.parametrize("character", INVISIBLE, ids=[f"U+{ord(one):04X}" for one in INVISIBLE])
def test_what_cannot_be_seen_is_blank(character: str) -> None:
    assert is_blank(character)
    assert is_blank(f" {character}\n{character}")
    assert not is_blank(f"{character}a{character}")


def test_what_can_be_seen_is_not_blank() -> None:
    for text in ("a", ".", "猫", "é", "e\u0301", "🙂", "👩\u200d🔬", "\u0600", "\ufffd", "\u25a1"):
        assert not is_blank(text)
    assert is_blank("")
