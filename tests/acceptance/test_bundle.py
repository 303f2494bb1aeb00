"""`whence export` and `whence import` of a project, from one installation to another."""

import io
import json
import os
import shutil
import signal
import tarfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from tests.acceptance.conftest import Installation, WaitFor
from tests.graphs import require_sound

from whence.app import App
from whence.errors import BadInput, WhenceError
from whence.models import DEFAULT_PROJECT_ID
from whence.settings import Settings
from whence.store.bundle_rows import TABLES, columns_of
from whence.store.postgres import EmbeddedPostgres
from whence.transfer.bundle_file import open_bundle
from whence.transfer.bundle_import import BundleImport

if TYPE_CHECKING:
    from tests.acceptance.forkserver import ForkServer

PRIVATE = "sk-very-private"
TEXT = """# Herons

The heron waits at the pond. Falcon is a service. Kestrel is a service. Kestrel depends on Falcon.

# Kestrel

Status: active
Owner: Mara Lind
"""
CONFIGURE = "UPDATE kb.projects SET config = config || %s::jsonb WHERE name = 'birds'"
RATED = {"rating": "up", "comment": "right", "wrongCitations": [], "at": "2026-01-01T00:00:00Z"}
RATE = "UPDATE kb.answers SET feedback = %s::jsonb"


@pytest.fixture(scope="module")
def source(
    tmp_path_factory: pytest.TempPathFactory, made_once: Path, forks: "ForkServer"
) -> Iterator[Installation]:
    """Has a project with two versions of a document, a graph with corrections, a conversation, and secrets."""
    folder = tmp_path_factory.mktemp("source")
    shutil.copytree(made_once, folder / "data")
    installation = Installation(folder=folder, env={"WHENCE_EMBEDDER": "hash"}, forks=forks)
    notes = folder / "notes"
    notes.mkdir()
    serving = installation.serve().ready()
    try:
        _fill(installation, notes)
        dsn = _dsn(installation)
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute(CONFIGURE, [json.dumps({"lightragKey": PRIVATE, "language": "english"})])
            conn.execute(RATE, [json.dumps(RATED)])
        installation.run("export", "--project=birds", str(folder / "birds.whence"))
        yield installation
    finally:
        serving.end()
        installation.clear()


def _fill(installation: Installation, notes: Path) -> None:
    installation.run("projects", "create", "birds", "--extraction=auto", "--extractor=rules")
    for text in ("The heron sleeps.\n", TEXT):
        (notes / "heron.md").write_text(text)
        installation.run("ingest", str(notes), "--project=birds", "--meta=team=north")
    (notes / "copy.md").write_text(TEXT)
    installation.run("ingest", str(notes), "--project=birds")
    installation.run("extract", "--project=birds")
    installation.run("objects", "set", "Falcon", "owner=Ole", "--project=birds", "--author=Ida")
    installation.run("objects", "reject", "Mara Lind", "--project=birds")
    installation.run("ask", "Where does the heron wait?", "--store", "--project=birds")


def _dsn(installation: Installation) -> str:
    """Of the embedded server, while it runs."""
    with EmbeddedPostgres.start(installation.data_dir) as server:
        return str(server.dsn)


@pytest.fixture
def file(source: Installation) -> Path:
    return source.folder / "birds.whence"


@pytest.fixture
def target(hosted: Installation) -> Installation:
    hosted.env["WHENCE_EMBEDDER"] = "hash"
    return hosted


def members(file: Path) -> dict[str, bytes]:
    with tarfile.open(file) as tar:
        return {info.name: tar.extractfile(info).read() for info in tar}  # type: ignore[union-attr]


def tables(database: psycopg.Connection) -> dict[str, list[Any]]:
    return {
        name: database.execute(f"SELECT t::text FROM kb.{name} t ORDER BY 1").fetchall()
        for name in (*TABLES, "projects", "stored_originals", "embedding_spaces")
    }


def test_round_trip(
    source: Installation, file: Path, target: Installation, database: psycopg.Connection, dsn: str
) -> None:
    before = tables(database)
    assert target.json("import", str(file), "--dry-run")["changed"] is False
    assert {**tables(database), "projects": []} == {**before, "projects": []}
    assert target.json("projects", "list") == target.json("projects", "list")

    done = target.json("import", str(file))
    assert (done["changed"], done["keptId"], done["counts"]["documents"]) == (True, True, 2)
    for command in (
        ("objects", "list", "--project=birds"),
        ("trace", "Falcon", "--project=birds"),
        ("objects", "history", "--project=birds"),
        ("documents", "list", "--project=birds"),
        ("search", "heron pond", "--project=birds"),
        ("answers", "list", "--project=birds"),
    ):
        assert _without_times(target.json(*command)) == _without_times(source.json(*command)), command
    answer = target.json("answers", "list", "--project=birds")[0]
    assert answer["feedback"]["rating"] == "up"
    assert target.json("answers", "show", answer["id"])["sources"]
    asked = target.json("ask", "Where does the heron wait?", "--project=birds")
    assert asked["citations"][0]["quote"] == "The heron waits at the pond."
    require_sound(dsn)
    assert "✓ Originals: 1 read and as described" in target.run("doctor", "--deep").stdout

    after = tables(database)
    assert target.run("import", str(file)).stdout.startswith(
        "Imported before, nothing changed: project birds"
    )
    assert tables(database) == after

    again = target.folder / "again.whence"
    target.run("export", "--project=birds", str(again))
    first, second = members(file), members(again)
    manifests = [json.loads(one.pop("manifest.json")) for one in (first, second)]
    assert first == second
    assert [{**one, "created_at": None} for one in manifests] == [{**manifests[0], "created_at": None}] * 2


def _without_times(found: Any) -> Any:
    """Times of asking and distances are of the run."""
    text = json.dumps(found, sort_keys=True)
    return [part for part in text.split(", ") if '"took' not in part and "uration" not in part]


def test_no_secrets(file: Path) -> None:
    assert PRIVATE.encode() not in file.read_bytes()
    assert oct(file.stat().st_mode & 0o777) == "0o600"


def test_killed(
    file: Path, target: Installation, database: psycopg.Connection, dsn: str, wait_for: WaitFor
) -> None:
    """All rows are one transaction: after a kill nothing is there, and the same command imports everything."""
    waits = (
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%kb.answers%'"
    )
    with psycopg.connect(dsn) as holding:
        holding.execute("LOCK TABLE kb.answers IN ACCESS EXCLUSIVE MODE")
        running = target.start("import", str(file))
        wait_for(lambda: database.execute(waits).fetchone() == (1,), "the import to reach the answers")
        os.kill(running.pid, signal.SIGKILL)
        running.communicate(60)
    held = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    wait_for(lambda: database.execute(held).fetchone() == (0,), "its connections to end")
    assert database.execute("SELECT count(*) FROM kb.documents").fetchone() == (0,)
    assert [one["name"] for one in target.json("projects", "list")] == ["default"]
    assert target.json("import", str(file))["changed"]
    assert database.execute("SELECT count(*) FROM kb.answers").fetchone() == (1,)
    require_sound(dsn)


def test_into_the_default_project(file: Path, target: Installation, database: psycopg.Connection) -> None:
    """An empty project is filled; a project that is not empty stays as it is. Ids must be free."""
    done = target.json("import", str(file), "--project=default")
    assert (done["projectId"], done["keptId"]) == (str(DEFAULT_PROJECT_ID), False)
    assert "✓ Originals: 1 read" in target.run("doctor", "--deep").stdout
    refused = target.refused("import", str(file), "--project=other", code=1)
    assert "are in project 'default' of this installation already" in refused
    assert database.execute("SELECT count(*) FROM kb.stored_originals").fetchone() == (1,)
    target.run("documents", "delete", "copy.md", "--yes")
    assert "nothing changed" in target.run("import", str(file), "--project=default").stdout
    target.run("projects", "create", "mine")
    (target.folder / "a.txt").write_text("Mine.")
    target.run("ingest", str(target.folder / "a.txt"), "--project=mine")
    assert "'mine' is not empty" in target.refused("import", str(file), "--project=mine", code=1)


def test_another_embedder(file: Path, target: Installation, database: psycopg.Connection) -> None:
    target.env["WHENCE_EMBEDDER"] = "minilm"
    done = target.run("import", str(file)).stdout
    assert "Its chunks are embedded by all-MiniLM" in done
    assert target.json("search", "heron pond", "--project=birds")
    spaces = (
        "SELECT DISTINCT s.provider FROM kb.chunk_vectors v JOIN kb.embedding_spaces s ON s.id = v.space_id"
    )
    assert database.execute(spaces).fetchall() == [("minilm",)]


def _rewritten(
    file: Path, to: Path, change: Callable[[dict[str, bytes]], Mapping[str, bytes] | None]
) -> Path:
    found = members(file)
    found = dict(change(found) or found)
    with tarfile.open(to, "w") as tar:
        for name, content in found.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return to


def _honest(found: dict[str, bytes], name: str, content: bytes) -> None:
    """Changes a member, and its hash with it."""
    found[name] = content
    manifest = json.loads(found["manifest.json"])
    manifest["members"][name] |= {"sha256": sha256(content).hexdigest(), "size": len(content)}
    found["manifest.json"] = json.dumps(manifest).encode()


def _manifest(**changes: Any) -> Callable[[dict[str, bytes]], None]:
    def change(found: dict[str, bytes]) -> None:
        found["manifest.json"] = json.dumps({**json.loads(found["manifest.json"]), **changes}).encode()

    return change


def _replace(name: str, old: bytes, new: bytes) -> Callable[[dict[str, bytes]], None]:
    def change(found: dict[str, bytes]) -> None:
        assert old in found[name]
        _honest(found, name, found[name].replace(old, new))

    return change


DOCUMENTS, CHUNKS = "rows/documents.jsonl", "rows/chunks.jsonl"


REFUSED: list[tuple[Callable[[dict[str, bytes]], Any], str]] = [
    (_manifest(format=2), "which is newer than this version. Upgrade Whence first."),
    (_manifest(schema="9999_later"), "which is newer than this version. Upgrade Whence first."),
    (_manifest(kind="other"), "it is not a bundle made by `whence export`"),
    (_manifest(members={}), "is not in its manifest"),
    (_manifest(project=None), "its manifest is not valid"),
    (lambda found: found.pop("manifest.json") and None, "the end of the file is missing"),
    (lambda found: found.pop(CHUNKS) and None, f"{CHUNKS} is missing from it"),
    (lambda found: found.update({CHUNKS: found[CHUNKS].replace(b"heron", b"stork")}), "(SHA-256)"),
    (lambda found: found.update({CHUNKS: b""}), "has 0 bytes instead of"),
    (lambda found: {"../../etc/passwd": b"", **found}, "a member that bundles do not have"),
    (lambda found: {"originals/../../x": b"", **found}, "a member that bundles do not have"),
    (_replace(CHUNKS, b"heron", b"stork"), "of its chunks are not what their documents say"),
    (_replace(CHUNKS, b'"chunk_index":0', b'"chunk_index":"x"'), "its chunks are not valid"),
    (_replace(DOCUMENTS, b'"name":"', b'"name":"\\u0000'), "its documents are not valid"),
    (_replace(DOCUMENTS, b'{"id"', b"{id"), "its documents are not valid"),
    (_replace(DOCUMENTS, b'"original_key":"', b'"original_key":"../'), "it lacks the original"),
    (_replace("rows/jobs.jsonl", b'"key": "', b'"key": "../../'), "by keys that are not valid"),
    (_manifest(embedder={"provider": "hash", "model": "x", "dimensions": 0}), "not valid: embedder"),
]


async def test_refused(file: Path, settings: Settings, database: psycopg.Connection) -> None:
    """With a clear message, and nothing of it stays."""
    bad = settings.data_dir / "bad.whence"
    async with App.open(replace(settings, embedder="hash")) as app:
        await app.storage.ensure_bound()
        before = tables(database)
        for change, message in REFUSED:
            with pytest.raises(WhenceError) as refused, open_bundle(_rewritten(file, bad, change)) as opened:
                await BundleImport(app.store, app.storage, app.embedders).run(opened)
            assert message in refused.value.message
            assert tables(database) == before, message
            assert await app.originals.keys() == [], message


@pytest.mark.parametrize("part", [0, 0.01, 0.5, 0.8])
def test_cut_off(part: float, file: Path, tmp_path: Path) -> None:
    whole = file.read_bytes()
    cut = tmp_path / "cut.whence"
    cut.write_bytes(whole[: int(len(whole) * part)])
    with pytest.raises(BadInput, match=r"is not a bundle|cannot be imported"), open_bundle(cut):
        pass


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.GNUTYPE_SPARSE, tarfile.DIRTYPE])
def test_members_that_are_no_files(kind: bytes, tmp_path: Path) -> None:
    bad = tmp_path / "bad.whence"
    with tarfile.open(bad, "w") as tar:
        info = tarfile.TarInfo(DOCUMENTS)
        info.type, info.linkname = kind, "/etc/passwd"
        tar.addfile(info)
    with pytest.raises(BadInput, match="is not a plain file"), open_bundle(bad):
        pass


ELSEWHERE = {
    "projects": "in the manifest",
    "embedding_spaces": "in the manifest",
    "api_keys": "secret, of the installation",
    "lightrag_keys": "secret",
    "key_usage": "of the installation",
    "audit": "of the installation",
    "storage": "of the installation",
    "stored_originals": "of the installation",
    "job_texts": "of unfinished jobs",
    "job_vectors": "of unfinished jobs",
    "lexical_segments": "computed",
    "lexical_blocks": "computed",
    "lexical_words": "computed",
    "backgrounds": "computed",
    "page_layouts": "computed",
}
"""Tables without a file in the bundle, and the reason."""


def test_every_column_is_in_a_bundle_or_left_out(database: psycopg.Connection) -> None:
    """A new table or column must be decided about: add it to the bundle, or name it as left out."""
    rows = database.execute(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'kb'"
    ).fetchall()
    found: dict[str, set[str]] = {}
    for table, column in rows:
        found.setdefault(table, set()).add(column)
    found.pop("alembic_version", None)
    assert found.keys() == TABLES.keys() | ELSEWHERE.keys()
    for table, shape in TABLES.items():
        left_out = {name.strip() for name in shape.left_out.split(",")} - {""}
        assert found[table] == {*columns_of(shape), *left_out, "project_id"}, table


def test_an_original_is_missing(source: Installation, target: Installation) -> None:
    file = target.folder / "incomplete.whence"
    top = source.data_dir / "originals"
    (key,) = [path for path in top.rglob("*") if path.is_file() and path.name != "whence-storage.json"]
    content = key.read_bytes()
    key.unlink()
    try:
        said = source.refused("export", "--project=birds", str(file), code=1)
        assert "(missing). Nothing was written." in said
        assert not file.exists()
        done = source.run("export", "--project=birds", "--allow-missing", str(file)).stdout
        assert done.endswith("0 originals.\nMissing or different: 1 original.\n")
    finally:
        key.write_bytes(content)
    assert target.json("import", str(file))["counts"]["documents"] == 2


def test_an_existing_file_is_not_overwritten(source: Installation, file: Path) -> None:
    assert "--force overwrites it" in source.refused("export", "--project=birds", str(file), code=1)
