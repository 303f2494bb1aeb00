"""One storage and two databases, in a folder and in a bucket; `whence storage`; `whence doctor --deep`."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from tests.client import Client
from tests.s3 import Bucket

from whence.store.originals import MARKER

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation, WaitFor


@pytest.fixture(params=["folder", "bucket"])
def shared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """The settings of one storage."""
    if request.param == "folder":
        yield {"WHENCE_STORAGE_URL": tmp_path_factory.mktemp("shared").as_uri()}
        return
    with Bucket() as bucket:
        yield bucket.environment


@pytest.fixture
def first(embedded: "Installation", shared: dict[str, str]) -> "Installation":
    """An embedded database that uses the storage."""
    embedded.env |= {"WHENCE_EMBEDDER": "hash", **shared}
    return embedded


@pytest.fixture
def second(
    first: "Installation", made_once: Path, tmp_path_factory: pytest.TempPathFactory, shared: dict[str, str]
) -> Iterator["Installation"]:
    """A second embedded database with the same settings."""
    installation = type(first)(
        folder=tmp_path_factory.mktemp("second"),
        env={"WHENCE_EMBEDDER": "hash", **shared},
        forks=first.forks,
    )
    shutil.copytree(made_once, installation.data_dir)
    yield installation
    installation.clear()


def storage_id(installation: "Installation") -> str:
    found: str = installation.json("storage", "status")["database"]["id"]
    return found


def test_two_embedded_databases_on_one_storage(first: "Installation", second: "Installation") -> None:
    """The second refuses whatever writes, and all that the first has is still there."""
    client = Client(first.serve().ready().url)
    items = [client.upload(f"The heron waits, {n}.".encode(), f"{n}.txt", wait="true") for n in range(3)]
    first.serving[0].end()
    file = first.folder / "note.txt"
    file.write_text("The bittern booms.")
    refused = second.refused("serve", "--port=0")
    for part in (
        storage_id(first),
        storage_id(second),
        "belongs to another database",
        "whence storage adopt",
    ):
        assert part in refused
    for command in (("ingest", str(file)), ("backup", str(second.folder / "b.tar"))):
        assert second.refused(*command) == refused
    assert second.json("documents", "list") == []
    again = Client(first.serve().ready().url)
    for number, item in enumerate(items):
        assert again.file(item["documentId"]) == f"The heron waits, {number}.".encode()
    first.serving[-1].end()
    assert "3 originals." in first.run("backup", str(first.folder / "whence.tar")).stdout


def test_a_fresh_database_before_a_restore(first: "Installation", second: "Installation") -> None:
    """The database is lost, the storage is not: only the backup may be read into it."""
    client = Client(first.serve().ready().url)
    item = client.upload(b"The heron waits.", "heron.txt", wait="true")
    first.serving[0].end()
    file = str(first.folder / "whence.tar")
    first.run("backup", file)
    second.refused("serve", "--port=0")
    assert second.json("restore", file)["storage_id"] == storage_id(first)
    assert Client(second.serve().ready().url).file(item["documentId"]) == b"The heron waits."


def test_adopting(first: "Installation", second: "Installation") -> None:
    """The new owner is asked first; the old one refuses to start from then on."""
    first.serve().ready()
    first.serving[0].end()
    asked = second.run("storage", "adopt", stdin="n\n", code=1)
    assert f"marker:        {storage_id(first)}" in asked.stderr
    assert second.json("storage", "status")["bond"] == "other"
    done = second.run("storage", "adopt", "--yes").stdout
    assert "The storage belongs to this database." in done
    assert f"It belonged to the database {storage_id(first)} before." in done
    second.serve().ready()
    assert "belongs to another database" in first.refused("serve", "--port=0")


def test_another_database_url_on_the_same_folder(hosted: "Installation", embedded: "Installation") -> None:
    """The reported loss: one start with another WHENCE_DATABASE_URL removed every original."""
    embedded.env["WHENCE_EMBEDDER"] = "hash"
    item = Client(embedded.serve().ready().url).upload(b"The heron waits.", "heron.txt", wait="true")
    embedded.serving[0].end()
    said = embedded.refused("serve", "--port=0", env=hosted.env)
    assert f"The storage {embedded.data_dir / 'originals'} belongs to another database" in said
    assert Client(embedded.serve().ready().url).file(item["documentId"]) == b"The heron waits."


def age(database: psycopg.Connection, days: int) -> None:
    database.execute("UPDATE kb.stored_originals SET noted_at = noted_at - make_interval(days => %s)", [days])


def leave_behind(hosted: "Installation", database: psycopg.Connection) -> str:
    """A leftover of an upload that was killed two days ago."""
    document = "00000000-0000-7000-8000-000000000001/01a1e8d4-a219-7985-b000-000000000000/1"
    database.execute(
        "INSERT INTO kb.stored_originals VALUES (%s, %s, now() - interval '2 days', 'kept', NULL)",
        [document.split("/", maxsplit=1)[0], document],
    )
    path = hosted.data_dir / "originals" / document
    path.parent.mkdir(parents=True)
    path.write_text("Left behind.")
    return document


def is_trashed(database: psycopg.Connection) -> bool:
    rows = database.execute("SELECT state FROM kb.stored_originals").fetchall()
    return rows == [("trashed",)]


def test_the_trash(hosted: "Installation", database: psycopg.Connection, wait_for: "WaitFor") -> None:
    hosted.env["WHENCE_EMBEDDER"] = "hash"
    assert "In the trash: 0 originals." in hosted.run("storage", "trash", "list").stdout
    hosted.serve().ready()
    hosted.serving.pop().end()  # it may still be tidying
    key = leave_behind(hosted, database)
    assert hosted.json("storage", "status")["leftovers"] == 1
    serving = hosted.serve().ready()
    wait_for(lambda: is_trashed(database), "the leftover to be trashed")
    wait_for(lambda: f"Moved the original {key} to trash/" in serving.said, "the log to name it")
    for one in hosted.serving:
        one.end()
    (listed,) = hosted.json("storage", "trash", "list")
    path, trashed = (hosted.data_dir / "originals" / name for name in (key, listed["trash_key"]))
    assert (path.exists(), trashed.read_text()) == (False, "Left behind.")
    assert key in hosted.run("storage", "trash", "list").stdout
    assert "1 in the trash" in hosted.run("storage", "status").stdout

    assert "Name the keys" in hosted.run("storage", "trash", "restore", code=2).stderr
    assert hosted.refused("storage", "trash", "restore", "x/y", code=1) == "Not in the trash: x/y"
    assert "Restored: 1 original." in hosted.run("storage", "trash", "restore", key).stdout
    assert (path.read_text(), trashed.exists()) == ("Left behind.", False)

    age(database, 2)
    hosted.serve().ready()
    wait_for(trashed.exists, "the leftover to be trashed again")
    wait_for(lambda: is_trashed(database), "the row to say so")
    hosted.serving[-1].end()
    hosted.run("storage", "trash", "empty", stdin="n\n", code=1)
    assert trashed.exists()
    assert "Removed: 1 original." in hosted.run("storage", "trash", "empty", "--yes").stdout
    assert not trashed.exists()
    assert hosted.json("storage", "status")["trash"] == 0


@pytest.fixture
def filled(hosted: "Installation") -> "Installation":
    """Two documents, and no server that works on them any more."""
    hosted.env["WHENCE_EMBEDDER"] = "hash"
    client = Client(hosted.serve().ready().url)
    for word in ("heron", "bittern"):
        client.upload(f"The {word} waits. It sees the {word}.".encode(), f"{word}.txt", wait="true")
    hosted.serving[-1].end()
    return hosted


def deep(installation: "Installation", *, code: int = 1) -> dict[str, tuple[str, str]]:
    """What --deep adds, by name."""
    report = json.loads(installation.run("doctor", "--deep", "--json", code=code).stdout)
    plain = json.loads(installation.run("doctor", "--json").stdout)
    known = {finding["what"] for finding in plain["findings"]}
    found = {one["what"]: (one["state"], one["says"]) for one in report["findings"]}
    return {what: finding for what, finding in found.items() if what not in known}


def test_doctor_finds_nothing_wrong(filled: "Installation") -> None:
    location = filled.data_dir / "originals"
    assert deep(filled, code=0) == {
        "Storage": ("ok", f"{location}: The storage belongs to this database."),
        "Originals": ("ok", "2 read and as described"),
    }


def test_doctor_compares_originals(filled: "Installation", database: psycopg.Connection) -> None:
    folder = filled.data_dir / "originals"
    gone, changed = sorted(str(path.relative_to(folder)) for path in folder.rglob("*-*/*-*/*"))
    (folder / gone).unlink()
    (folder / changed).write_text("Something else.")
    (folder / "strange.txt").write_text("Not ours.")
    left = leave_behind(filled, database)
    found = deep(filled)
    assert found["Originals that are missing"] == (
        "wrong",
        f"1: {gone}. Restore a backup that has them, or send the files again",
    )
    assert found["Originals that differ"][1].startswith(f"1: {changed} (15 bytes instead of ")
    assert found["Unknown objects"] == (
        "note",
        "1: strange.txt. This database did not write them and never touches them",
    )
    assert found["Originals without a document"][1].startswith(
        f"1: {left}. Uploads in progress, or leftovers"
    )


def test_doctor_compares_chunks_with_vectors_and_text_index(
    filled: "Installation", database: psycopg.Connection
) -> None:
    """Each difference comes with what to do about it, and that works."""
    row = database.execute(
        "DELETE FROM kb.chunk_vectors WHERE id = (SELECT min(id::text)::uuid FROM kb.chunks) RETURNING id"
    ).fetchone()
    assert row is not None
    owner = database.execute("SELECT document_id FROM kb.chunks WHERE id = %s", row).fetchone()
    assert owner is not None
    database.execute(
        "UPDATE kb.lexical_segments SET chunk_ids = set_byte(chunk_ids, 15, 255 - get_byte(chunk_ids, 15)) "
        "WHERE id = (SELECT min(id::text)::uuid FROM kb.lexical_segments)"
    )
    found = deep(filled)
    state, says = found["Vectors of default"]
    assert (state, says.partition(". ")[0]) == (
        "wrong",
        f"1 chunk without a vector, in the documents {owner[0]}",
    )
    assert found["Text index of default"] == (
        "wrong",
        "1 entry without a chunk. Run `whence projects reindex default`",
    )
    assert says.endswith("Run `whence reembed --project default`")
    filled.run("projects", "reindex", "default")
    assert "Text index of default" not in deep(filled)
    done = filled.run("reembed", "--project", "default").stdout
    assert "Embedded 1 chunk that had no vector." in done
    assert deep(filled, code=0).keys() == {"Storage", "Originals"}
    assert filled.json("reembed")["filled"] == 0


def test_doctor_looks_into_the_text_index(filled: "Installation", database: psycopg.Connection) -> None:
    database.execute("DELETE FROM kb.lexical_blocks")
    assert deep(filled)["Text index of default"] == (
        "wrong",
        "2 chunks without all their terms. Run `whence projects reindex default`",
    )
    filled.run("projects", "reindex", "default")
    database.execute("DELETE FROM kb.lexical_words")
    assert deep(filled)["Text index of default"] == (
        "wrong",
        "2 chunks without their words. Run `whence projects reindex default`",
    )
    filled.run("projects", "reindex", "default")
    deep(filled, code=0)


def document_findings(installation: "Installation", code: int) -> dict[str, str]:
    """The state of each fault of all documents."""
    report = json.loads(installation.run("doctor", "--deep", "--json", code=code).stdout)
    found = {one["says"]: one["state"] for one in report["findings"] if one["what"] == "Documents of default"}
    documents = sorted(one["id"] for one in installation.json("documents", "list"))
    assert all(f": {', '.join(documents)}. " in says for says in found)
    return {says.partition(":")[0].removeprefix("2 documents "): state for says, state in found.items()}


def test_doctor_compares_documents_with_chunks(filled: "Installation", database: psycopg.Connection) -> None:
    database.execute("UPDATE kb.documents SET current_job_id = NULL")
    assert document_findings(filled, 0) == {"without a current job": "note"}
    database.execute("UPDATE kb.documents SET original_key = NULL, text = '!' || text")
    assert document_findings(filled, 1) == {
        "without an original": "wrong",
        "without a current job": "note",
        "with a chunk that differs from its place in the text": "wrong",
    }
    database.execute("UPDATE kb.documents SET text = substr(text, 2)")
    database.execute("UPDATE kb.chunks SET content_hash = sha256(content_hash)")
    assert document_findings(filled, 1) == {
        "without an original": "wrong",
        "without a current job": "note",
        "with a chunk whose text differs from its hash": "wrong",
    }
    database.execute("DELETE FROM kb.chunks")
    assert document_findings(filled, 1).get("with text and without chunks") == "note"


def test_doctor_on_a_storage_of_another_database(filled: "Installation") -> None:
    marker = filled.data_dir / "originals" / MARKER
    marker.write_text(marker.read_text().replace(storage_id(filled), "00000000-0000-7000-8000-00000000000a"))
    state, says = deep(filled)["Storage"]
    assert state == "wrong"
    assert "belongs to another database (00000000-0000-7000-8000-00000000000a)" in says
