"""`whence import jsonl` and `whence import folder`."""

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation

GOOD = {"text": "The heron waits.", "name": "heron.md", "id": "a1", "metadata": {"team": "north"}}


@pytest.fixture
def hosted(hosted: "Installation") -> "Installation":
    hosted.env |= {"WHENCE_EMBEDDER": "hash", "WHENCE_MAX_UPLOAD_MB": "1"}
    return hosted


def test_lines(hosted: "Installation") -> None:
    """Bad lines are named by number, their neighbours go on; again changes nothing; another text is a new version."""
    file = hosted.folder / "notes.jsonl"
    bad = [
        "not json",
        "[1]",
        '{"text": ""}',
        '{"text": "x", "more": 1}',
        '{"text": "x", "validFrom": "when"}',
    ]
    bad += [json.dumps({"text": "x" * 2_000_000}), '{"text": 1}', '{"text": "x", "id": ""}']
    last = {"text": "The owl sleeps.", "validFrom": "2024-05-01"}
    file.write_text("\n".join([json.dumps(GOOD), *bad, "", json.dumps(last)]))

    plan = hosted.json("import", "jsonl", str(file), "--dry-run")["items"]
    assert [one["status"].partition(":")[0] for one in plan] == ["new", *["bad"] * len(bad), "new"]
    assert hosted.json("documents", "list") == []

    done = hosted.run("import", "jsonl", str(file), code=1)
    assert done.stdout.endswith(f"2 ingested, {len(bad)} failed; 2 chunks.\n")
    assert "✗ line 2: not valid JSON" in done.stderr
    assert "✗ line 7: longer than 1 MB (WHENCE_MAX_UPLOAD_MB)" in done.stderr
    documents = hosted.json("documents", "list")
    assert [(one["name"], one["version"]) for one in documents] == [("notes-11.txt", 1), ("heron.md", 1)]
    assert documents[0]["valid_from"].startswith("2024-05-01")
    assert documents[1]["metadata"] == {"team": "north"}

    assert hosted.run("import", "jsonl", str(file), code=1).stdout.endswith(
        f"2 unchanged, {len(bad)} failed; 2 chunks.\n"
    )
    file.write_text(json.dumps({**GOOD, "text": "The heron flies."}) + "\n")
    assert hosted.run("import", "jsonl", str(file)).stdout.endswith("1 ingested; 1 chunk.\n")
    assert [one["version"] for one in hosted.json("documents", "list") if one["name"] == "heron.md"] == [2]


def test_folder(hosted: "Installation") -> None:
    folder = hosted.folder / "notes"
    folder.mkdir()
    (folder / "a.txt").write_text("The heron waits.")
    assert hosted.run("import", "folder", str(folder)).stdout.endswith("1 ingested; 1 chunk.\n")
    assert hosted.run("ingest", str(folder)).stdout.endswith("1 unchanged; 1 chunk.\n")
