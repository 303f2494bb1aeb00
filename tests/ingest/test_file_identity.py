"""`whence ingest` again, after files were moved, exchanged or written over: every document has its file's content."""

from pathlib import Path

import pytest
from tests.endpoint import Endpoint, status
from tests.ingest.conftest import Desk, sentences

from whence.cli.ingest_run import Feed, FileOutcome, IngestRequest
from whence.job_run import TryAgain
from whence.models import DEFAULT_PROJECT_ID, Document


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "größe & co"
    made.mkdir()
    return made


async def feed(desk: Desk, *paths: Path) -> dict[str, FileOutcome]:
    wanted = IngestRequest(sources=[str(path) for path in paths])
    project = await desk.app.store.projects.get(DEFAULT_PROJECT_ID)
    return {one.source: one for one in await Feed(desk.app, project, wanted, as_json=True).once()}


def ids(outcomes: dict[str, FileOutcome]) -> dict[str, object]:
    return {name: outcome.receipt and outcome.receipt.document_id for name, outcome in outcomes.items()}


async def documents(desk: Desk) -> list[Document]:
    views, _ = await desk.app.store.documents.page(DEFAULT_PROJECT_ID, limit=100, offset=0)
    return [await desk.app.store.documents.get(view["id"]) for view in views]


async def require_as_on_disk(desk: Desk, folder: Path) -> None:
    """Every document has the name, the origin and the content of a file, and every file has a document."""
    files = {path.name for path in folder.iterdir()}
    for document in await documents(desk):
        path = folder / document.name
        assert document.origin == path.as_uri()
        assert (await desk.app.store.documents.content(document.id))[0] == path.read_text()
        files.remove(document.name)
    assert not files


CHANGES: dict[str, tuple[dict[str, str | None], dict[str, str]]] = {
    "two change places": ({"a": "b", "b": "a"}, {"a": "b", "b": "a", "c": "c"}),
    "three go round": ({"a": "c", "b": "a", "c": "b"}, {"a": "b", "b": "c", "c": "a"}),
    "a copy while the first changes": ({"b": "a", "a": None}, {"a": "b", "b": "a", "c": "c"}),
    "each to the next": ({"a": None, "b": "a", "c": "b"}, {"a": "b", "b": "c", "c": "a"}),
}
"""For each file the one whose content it gets, None for a new one; then where the documents go."""


@pytest.mark.parametrize("backwards", [False, True], ids=["in order", "backwards"])
@pytest.mark.parametrize("change", CHANGES)
async def test_files_that_change_places(desk: Desk, folder: Path, change: str, *, backwards: bool) -> None:
    contents = {name: sentences(3, start=100 * number) for number, name in enumerate("abc")}
    for name, content in contents.items():
        (folder / name).write_text(content)
    first = ids(await feed(desk, folder))
    comes, goes = CHANGES[change]
    for name, source in comes.items():
        (folder / name).write_text(contents[source] if source else "Something else.")
    files = sorted(folder.iterdir(), reverse=backwards)
    second = await feed(desk, *files)
    assert {outcome.status for outcome in second.values()} == {"completed"}
    assert ids(second) == {goes[name]: ident for name, ident in first.items()}
    await require_as_on_disk(desk, folder)
    assert len(await documents(desk)) == 3
    third = await feed(desk, *files)
    assert ids(third) == ids(second)
    assert all(one.receipt and one.receipt.already_exists for one in third.values())


async def test_one_of_two_that_changed_places(desk: Desk, folder: Path) -> None:
    """The other is not handed in; it comes right when it is."""
    (folder / "a").write_text(sentences(3))
    (folder / "b").write_text(sentences(4))
    first = ids(await feed(desk, folder))
    (folder / "a").write_text(sentences(4))
    (folder / "b").write_text(sentences(3))
    assert ids(await feed(desk, folder / "b")) == {"b": first["a"]}
    assert ids(await feed(desk, folder / "a")) == {"a": first["b"]}
    await require_as_on_disk(desk, folder)


async def test_renamed_to_another_type(desk: Desk, folder: Path) -> None:
    (folder / "a.md").write_text("<h1>Herons</h1><p>They wait.</p>")
    first = await feed(desk, folder)
    (folder / "a.md").rename(folder / "a.html")
    second = await feed(desk, folder)
    assert ids(second)["a.html"] == ids(first)["a.md"]
    (document,) = await documents(desk)
    assert (document.name, document.mime) == ("a.html", "text/html")
    text, _ = await desk.app.store.documents.content(document.id)
    assert text is not None
    assert text.strip() == "# Herons\n\nThey wait."


async def test_renamed_onto_another(desk: Desk, folder: Path) -> None:
    """Of what was there before only its document is left."""
    (folder / "a").write_text(sentences(3))
    (folder / "b").write_text(sentences(4))
    first = ids(await feed(desk, folder))
    (folder / "a").rename(folder / "b")
    assert ids(await feed(desk, folder)) == {"b": first["a"]}
    left = {document.id: document for document in await documents(desk)}.pop(first["b"])  # type: ignore[call-overload]
    assert (left.name, left.origin) == ("b", None)
    assert (await desk.app.store.documents.content(left.id))[0] == sentences(4)


async def test_copies(desk: Desk, folder: Path) -> None:
    """Each file has a document of its own, also while all have the same bytes."""
    (folder / "b").write_text(sentences(3))
    (folder / "c").write_text(sentences(4))
    first = ids(await feed(desk, folder))
    for name in ("a", "d"):
        (folder / name).write_text(sentences(3))
    again = ids(await feed(desk, folder))
    assert {name: again[name] for name in "bc"} == first
    assert len(set(again.values())) == 4
    await require_as_on_disk(desk, folder)
    for name in "abcd":
        (folder / name).write_text(sentences(9))
    assert ids(await feed(desk, folder)) == again
    await require_as_on_disk(desk, folder)
    third = await feed(desk, folder)
    assert all(one.receipt and one.receipt.already_exists for one in third.values())
    (folder / "b").write_text(sentences(2))
    assert ids(await feed(desk, folder)) == again
    await require_as_on_disk(desk, folder)


async def test_renamed_while_a_new_version_is_under_way(desk: Desk, folder: Path, endpoint: Endpoint) -> None:
    """The job that stores it stores it under its new name."""
    (folder / "a").write_text(sentences(3))
    first = await feed(desk, folder)
    receipt = first["a"].receipt
    assert receipt is not None
    endpoint.script(status(503))
    changed = await desk.change(receipt, sentences(5))
    with pytest.raises(TryAgain):
        await desk.run(changed)
    (folder / "a").write_text(sentences(5))
    (folder / "a").rename(folder / "b")
    assert ids(await feed(desk, folder)) == {"b": receipt.document_id}
    assert (await desk.job(changed)).status == "completed"
    await require_as_on_disk(desk, folder)


async def test_a_copy_elsewhere_is_no_move(desk: Desk, folder: Path) -> None:
    (folder / "a").write_text(sentences(3))
    first = ids(await feed(desk, folder))
    other = folder.with_name("other")
    other.mkdir()
    (other / "a").write_text(sentences(3))
    assert ids(await feed(desk, other))["a"] != first["a"]
    assert {document.origin for document in await documents(desk)} == {
        (folder / "a").as_uri(),
        (other / "a").as_uri(),
    }


async def test_a_folder_inside_that_was_given_first(desk: Desk, folder: Path) -> None:
    """Known files keep their names, and new ones are named as their neighbours are."""
    inside = folder / "sub" / "deep"
    inside.mkdir(parents=True)
    (inside / "a").write_text(sentences(3))
    first = ids(await feed(desk, folder))
    (inside / "b").write_text(sentences(4))
    assert ids(await feed(desk, inside))["sub/deep/a"] == first["sub/deep/a"]
    (folder / "sub" / "c").write_text(sentences(5))
    await feed(desk, folder / "sub")
    (inside / "d").write_text(sentences(6))
    await feed(desk, inside / "d")
    (inside / "a").write_text(sentences(7))
    assert ids(await feed(desk, inside / "a")) == first
    expected = {"sub/deep/a", "sub/deep/b", "sub/c", "sub/deep/d"}
    assert {document.name for document in await documents(desk)} == expected
    (inside / "d").rename(inside / "e")
    await feed(desk, inside)
    assert "sub/deep/e" in {document.name for document in await documents(desk)}


async def test_a_folder_above_that_is_given_later(desk: Desk, folder: Path) -> None:
    inside = folder / "sub"
    inside.mkdir()
    (inside / "a").write_text(sentences(3))
    first = ids(await feed(desk, inside))
    (folder / "b").write_text(sentences(4))
    (inside / "c").write_text(sentences(5))
    assert ids(await feed(desk, folder))["a"] == first["a"]
    assert {document.name for document in await documents(desk)} == {"a", "b", "sub/c"}


async def test_other_ways_to_the_same_file(desk: Desk, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a").write_text(sentences(3))
    first = ids(await feed(desk, folder))
    link = folder.with_name("link")
    link.symlink_to(folder, target_is_directory=True)
    monkeypatch.chdir(folder)
    for way in (link, Path(), Path("..") / folder.name, folder / ".." / folder.name / "a"):
        assert ids(await feed(desk, way)) == first
    (folder / "a").write_text(sentences(4))
    assert ids(await feed(desk, link)) == first
