"""`whence backup` and `whence restore`, with servers running and stopped."""

import hashlib
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from whence.models import DEFAULT_PROJECT_ID
from whence.store import Store
from whence.store.originals import MARKER

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation
    from tests.samples import AddSample


@pytest.fixture
async def filled(hosted: "Installation", add_sample: "AddSample", store: Store, dsn: str) -> "Installation":
    sample = await add_sample(chunks=7)
    content, key = b"the document as it was given", f"{DEFAULT_PROJECT_ID}/{sample.document.id}/1"
    await store.inventory.note([key])
    original = hosted.data_dir / "originals" / key
    original.parent.mkdir(parents=True)
    original.write_bytes(content)
    with psycopg.connect(dsn) as conn:
        conn.execute(
            "UPDATE kb.documents SET original_key = %s, size = %s, sha256 = %s",
            [key, len(content), hashlib.sha256(content).digest()],
        )
    return hosted


@pytest.fixture
def another(tmp_path_factory: pytest.TempPathFactory, hosted: "Installation") -> Iterator["Installation"]:
    """Another machine, with nothing on it yet."""
    installation = type(hosted)(folder=tmp_path_factory.mktemp("another"), env={}, forks=hosted.forks)
    yield installation
    installation.clear()


def originals(installation: "Installation") -> dict[Path, bytes]:
    top = installation.data_dir / "originals"
    return {path.relative_to(top): path.read_bytes() for path in top.rglob("*") if path.is_file()}


def test_to_another_machine(filled: "Installation", another: "Installation") -> None:
    file = str(filled.folder / "whence.backup")
    filled.run("projects", "create", "Manuals")
    key = filled.run("keys", "create", "--scope=admin").stdout.strip()
    serving = filled.serve().ready()
    done = filled.run("backup", file)
    assert done.stdout == f"Wrote {file}: 2 projects, 1 document, 7 chunks, 1 original.\n"
    assert serving.get("/readyz").status_code == 200
    expected = [filled.json(*command) for command in (("projects", "list"), ("keys", "list"))]

    assert another.json("restore", file)["chunks"] == 7
    assert [another.json(*command) for command in (("projects", "list"), ("keys", "list"))] == expected
    copied, first = originals(another), originals(filled)
    assert copied.pop(Path(MARKER)) != first.pop(Path(MARKER))
    assert copied == first
    asked = (
        another.serve(env={"WHENCE_AUTH": "required"}).ready().get("/api/v1/projects", **{"X-API-Key": key})
    )
    assert asked.json()["data"]["pagination"]["total"] == 2

    busy = another.refused("restore", file, "--force", code=1)
    assert busy == "A server or worker is using the database. Stop it, then restore."
    another.serving[-1].end()
    assert "--force" in another.refused("restore", file, code=1)
    assert another.run("restore", file, "--force").stdout.startswith(f"Restored {file}: 2 projects")


def test_a_copy_does_not_use_the_storage_of_the_first(
    filled: "Installation", another: "Installation"
) -> None:
    """With the same id, deleting a document of the copy would remove the original of the first."""
    file = str(filled.folder / "whence.backup")
    filled.run("storage", "status")
    filled.run("backup", file)
    another.run("restore", file)
    storage = {"WHENCE_STORAGE_URL": (filled.data_dir / "originals").as_uri()}
    assert "belongs to another database" in another.refused("serve", "--port=0", env=storage)
    another.run("restore", file, "--force")
    assert another.json("storage", "status")["bond"] == "bound"


def test_an_existing_file_is_not_overwritten(filled: "Installation") -> None:
    file = filled.folder / "whence.backup"
    file.write_text("mine")
    refused = filled.run("backup", str(file), code=1)
    assert refused.stderr == f"whence: {file} exists; --force overwrites it.\n"
    assert file.read_text() == "mine"
    assert filled.json("backup", str(file), "--force")["originals"] == 1
    assert [path.name for path in filled.folder.glob("*whence*")] == ["whence.backup"]


def test_not_a_backup(filled: "Installation") -> None:
    file = filled.folder / "notes.txt"
    file.write_text("mine")
    message = filled.refused("restore", str(file), "--force", code=1)
    assert message == f"{file} is not a backup made by Whence"


def test_an_original_is_missing(filled: "Installation", another: "Installation") -> None:
    """The backup fails and names it; with --allow-missing it is written, and says so."""
    file = filled.folder / "whence.backup"
    (key,) = originals(filled)
    filled.run("storage", "status")
    (filled.data_dir / "originals" / key).unlink()
    said = filled.refused("backup", str(file), code=1)
    assert f"(1): {key} (missing). Nothing was written." in said
    assert not file.exists()
    done = filled.run("backup", str(file), "--allow-missing")
    assert done.stdout.endswith(f"0 originals.\nMissing or different: 1 original: {key}.\n")
    assert another.json("restore", str(file))["missing"] == [str(key)]
    report = another.run("doctor", "--deep", code=1).stdout
    assert f"✗ Originals that are missing: 1: {key}. Restore a backup that has them" in report


def test_a_backup_that_lacks_an_original_is_not_restored(
    filled: "Installation", another: "Installation"
) -> None:
    file, damaged = filled.folder / "whence.backup", filled.folder / "damaged.backup"
    filled.run("backup", str(file))
    (key,) = [key for key in originals(filled) if key.name != MARKER]
    with tarfile.open(file) as whole, tarfile.open(damaged, "w") as tar:
        for info in whole:
            if not info.name.startswith("originals/"):
                tar.addfile(info, whole.extractfile(info))
    said = another.refused("restore", str(damaged), code=1)
    assert f"missing from the backup, or have other content: 1: {key}." in said
    assert another.json("documents", "list") == []
    done = another.run("restore", str(damaged), "--allow-missing").stdout
    assert done.endswith(f"Missing or different: 1 original: {key}.\n")


def test_an_original_that_documents_share(hosted: "Installation", another: "Installation") -> None:
    """It is in the backup once, and goes with the last of them."""
    folder, file = hosted.folder / "notes", str(hosted.folder / "whence.backup")
    folder.mkdir()
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text("The heron waits.")
    for installation in (hosted, another):
        installation.env["WHENCE_EMBEDDER"] = "hash"
    hosted.run("ingest", str(folder))
    assert hosted.run("backup", file).stdout.endswith(": 1 project, 2 documents, 2 chunks, 1 original.\n")
    another.run("restore", file)
    another.run("documents", "delete", "a.txt", "--yes")
    assert "✓ Originals: 1 read and as described" in another.run("doctor", "--deep").stdout
    another.run("documents", "delete", "b.txt", "--yes")
    assert [path.name for path in originals(another)] == [MARKER]
