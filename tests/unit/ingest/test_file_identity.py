"""Files that were moved, exchanged or written over: each ends with the document that has its bytes."""

from collections.abc import Mapping
from uuid import UUID, uuid4

from hypothesis import given
from hypothesis import strategies as st

from whence.ingest.file_identity import Placed, Places, settled

GONE: dict[str, bytes | None] = {}


def known(**contents: str) -> dict[str, Placed]:
    """Documents by their origin."""
    return {
        origin: Placed(id=uuid4(), name=origin, origin=origin, sha256=content.encode())
        for origin, content in contents.items()
    }


def now(**contents: str) -> dict[str, bytes]:
    return {origin: content.encode() for origin, content in contents.items()}


def after(documents: Mapping[str, Placed], places: Places) -> dict[str, UUID]:
    """Who is where, when the moves are made."""
    where = {document.id: places.moves.get(document.id, document.origin) for document in documents.values()}
    found = {origin: ident for ident, origin in where.items() if origin is not None}
    assert len(found) == sum(origin is not None for origin in where.values()), "two in one place"
    return found


def test_nothing_happened() -> None:
    documents = known(a="1", b="2")
    places = settled(now(a="1", b="2"), GONE, list(documents.values()))
    assert places == Places(moves={}, there=frozenset("ab"))


def test_a_change_is_no_move() -> None:
    documents = known(a="1", b="2")
    places = settled(now(a="3", b="2"), GONE, list(documents.values()))
    assert places.moves == {}
    assert places.there == {"b"}


def test_a_file_that_was_renamed() -> None:
    documents = known(a="1")
    places = settled(now(b="1"), {"a": None}, list(documents.values()))
    assert places.moves == {documents["a"].id: "b"}
    assert places.there == {"b"}


def test_a_copy_of_a_file_that_is_still_there() -> None:
    documents = known(a="1")
    for files, elsewhere in ((now(b="1"), now(a="1")), (now(b="1", a="1"), {})):
        places = settled(files, elsewhere, list(documents.values()))
        assert places.moves == {}
        assert "b" not in places.there


def test_copies_that_moved() -> None:
    """Each goes where a file has its name; what is left over is a new one."""
    documents = known(**{"a/x/i": "1", "a/y/i": "1"})
    gone: dict[str, bytes | None] = {"a/x/i": None, "a/y/i": None}
    places = settled(now(**{"b/y/i": "1", "b/x/i": "1", "b/z": "1"}), gone, list(documents.values()))
    assert places.moves == {documents["a/y/i"].id: "b/y/i", documents["a/x/i"].id: "b/x/i"}
    assert places.there == {"b/x/i", "b/y/i"}


def test_a_copy_that_changed_does_not_give_its_document_to_a_new_copy() -> None:
    """As with empty files: one of them gets content, and there is another empty one."""
    documents = known(a="1", b="1")
    places = settled(now(a="1", b="2", c="1"), GONE, list(documents.values()))
    assert places == Places(moves={}, there=frozenset("a"))


def test_two_that_changed_places() -> None:
    documents = known(a="1", b="2")
    places = settled(now(b="1", a="2"), GONE, list(documents.values()))
    assert places.moves == {documents["a"].id: "b", documents["b"].id: "a"}
    assert places.there == {"a", "b"}


def test_one_written_over_by_another_which_changed() -> None:
    """What was in the place of the copy becomes the document of the one that changed."""
    documents = known(a="1", b="2")
    places = settled(now(a="3", b="1"), GONE, list(documents.values()))
    assert places.moves == {documents["a"].id: "b", documents["b"].id: "a"}
    assert places.there == {"b"}


def test_one_written_over_by_another_which_is_not_handed_in() -> None:
    documents = known(a="1", b="2")
    places = settled(now(b="1"), now(a="3"), list(documents.values()))
    assert places.moves == {documents["a"].id: "b", documents["b"].id: "a"}


def test_one_written_over_by_a_move() -> None:
    """Of what it was before no file is left; the document stays, without a place."""
    documents = known(a="1", b="2")
    places = settled(now(b="1"), {"a": None}, list(documents.values()))
    assert places.moves == {documents["a"].id: "b", documents["b"].id: None}


def test_a_row_of_moves() -> None:
    """As logs are rotated: each to the next, and a new one at the front."""
    documents = known(a="1", b="2", c="3")
    places = settled(now(a="9", b="1", c="2"), GONE, list(documents.values()))
    assert places.moves == {documents["a"].id: "b", documents["b"].id: "c", documents["c"].id: "a"}
    assert places.there == {"b", "c"}


NAMES = "abcdef"
CONTENTS = st.sampled_from([b"1", b"2", b"3", b"4"])
DOCUMENTS = st.dictionaries(st.sampled_from(NAMES), CONTENTS, max_size=6)
FILES = DOCUMENTS


@given(before=DOCUMENTS, disk=FILES, order=st.permutations(NAMES), handed_in=st.sets(st.sampled_from(NAMES)))
def test_every_file_ends_with_its_bytes(
    before: dict[str, bytes], disk: dict[str, bytes], order: list[str], handed_in: set[str]
) -> None:
    """In whatever order they come: no two documents in one place, and those that are there need no bytes."""
    documents = {
        origin: Placed(id=uuid4(), name=origin, origin=origin, sha256=content)
        for origin, content in before.items()
    }
    files = {origin: disk[origin] for origin in order if origin in disk and origin in handed_in}
    elsewhere = {origin: disk.get(origin) for origin in NAMES if origin not in files}
    places = settled(files, elsewhere, list(documents.values()))
    where = after(documents, places)
    contents = {document.id: document.sha256 for document in documents.values()}
    for origin in places.there:
        assert contents[where[origin]] == files[origin]
    for origin in files.keys() - places.there:
        assert contents.get(where.get(origin, uuid4())) != files[origin]


@given(before=DOCUMENTS, disk=FILES)
def test_what_has_its_bytes_stays(before: dict[str, bytes], disk: dict[str, bytes]) -> None:
    documents = {
        origin: Placed(id=uuid4(), name=origin, origin=origin, sha256=content)
        for origin, content in before.items()
    }
    places = settled(disk, dict.fromkeys(before.keys() - disk.keys()), list(documents.values()))
    for origin, document in documents.items():
        if disk.get(origin) == document.sha256:
            assert document.id not in places.moves
