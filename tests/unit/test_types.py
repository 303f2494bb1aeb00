"""Ids that sort by creation; what a caller may do; what a name is."""

import hashlib
import time
from itertools import pairwise
from uuid import RFC_4122, UUID

import pytest

from whence.types import DEFAULT_PROJECT_ID, EVERYONE, SCOPES, Caller, Chunk, new_id, now, project_name


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


def test_the_hash_of_a_chunk_is_that_of_its_content() -> None:
    ident = new_id()
    chunk = Chunk(
        project_id=ident,
        id=ident,
        document_id=ident,
        job_id=ident,
        chunk_index=0,
        content="Ünïcödé 🙂",
        metadata=None,
        created_at=now(),
    )
    assert chunk.content_hash == hashlib.sha256("Ünïcödé 🙂".encode()).hexdigest()


def test_names() -> None:
    assert project_name("  Ünïcödé 🙂 ") == "Ünïcödé 🙂"
    assert project_name("x" * 200)
    for text in ("", " ", "a\nb", "a\0b", "\udcff", "x" * 201):
        with pytest.raises(ValueError, match=r"^a name "):
            project_name(text)
