"""projects, keys and db: for people, for scripts, and their exit codes."""

import json
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

import psycopg
import pytest

from whence.models import DEFAULT_PROJECT_ID

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation, WaitFor


def test_projects(hosted: "Installation") -> None:
    created = hosted.json("projects", "create", "Manuals", "--description=of machines", "--extraction=manual")
    assert created["config"] == {
        "extraction": "manual",
        "lightragKey": None,
        "lightragUrl": None,
        "extractor": None,
        "context": None,
        "chunking": None,
        "verify": None,
        "citationStyle": None,
        "footnotes": None,
        "grounding": None,
        "media": None,
    }
    assert created["language"] == "english"
    assert UUID(created["id"]).version == 7
    assert (created["name"], created["description"]) == ("Manuals", "of machines")
    assert created["created_at"].endswith("Z")
    assert hosted.run("projects", "create", "Ünïcödé 🙂").stdout.startswith("Created project Ünïcödé 🙂 (")

    names = [project["name"] for project in hosted.json("projects", "list")]
    assert names == ["default", "Manuals", "Ünïcödé 🙂"]
    head, first, *_ = hosted.run("projects", "list").stdout.splitlines()
    assert head.split() == ["ID", "NAME", "DESCRIPTION", "CREATED"]
    assert first.split()[:2] == [str(DEFAULT_PROJECT_ID), "default"]

    renamed = hosted.json("projects", "rename", "Manuals", "Handbooks")
    assert (renamed["id"], renamed["name"]) == (created["id"], "Handbooks")
    assert hosted.run("projects", "rename", created["id"], "Books").stdout == (
        f"Renamed project Books ({created['id']}).\n"
    )
    assert hosted.json("projects", "delete", "Books", "--yes")["id"] == created["id"]
    assert hosted.refused("projects", "delete", created["id"], "--yes", code=1) == "Project not found"


def test_a_project_by_its_id(hosted: "Installation") -> None:
    created = hosted.json("projects", "create", "Manuals")
    assert (
        f"Deleted project Manuals ({created['id']})."
        in hosted.run("projects", "delete", created["id"], "--yes").stdout
    )


@pytest.mark.parametrize("answer", ["n\n", ""])
def test_deleting_asks_first(hosted: "Installation", answer: str) -> None:
    hosted.run("projects", "create", "Manuals")
    asked = hosted.run("projects", "delete", "Manuals", stdin=answer, code=1)
    assert "Delete project Manuals and everything in it?" in asked.stderr
    assert "Aborted." in asked.stderr
    assert len(hosted.json("projects", "list")) == 2


def test_what_projects_refuses(hosted: "Installation") -> None:
    hosted.run("projects", "create", "Manuals")
    taken = "There is a project named 'Manuals' already"
    assert hosted.refused("projects", "create", "Manuals", code=1) == taken
    assert hosted.refused("projects", "rename", "default", "Manuals", code=1) == taken
    gone = hosted.refused("projects", "delete", "default", "--yes", code=1)
    assert gone == "The default project cannot be deleted"
    assert hosted.refused("projects", "rename", "none", "x", code=1) == "There is no project named 'none'"
    assert hosted.refused("projects", "rename", str(uuid4()), "x", code=1) == "Project not found"


def test_a_name_must_be_one(hosted: "Installation") -> None:
    for name in ("", "two\nlines", "x" * 201, os.fsdecode(b"\xff")):
        for command in (("create", name), ("rename", "default", name)):
            message = hosted.refused("projects", *command, code=1)
            assert message.startswith("name must be"), message
    nonsense = os.fsdecode(b"\xff")
    for arguments in (["keys", "create", "--name", nonsense], ["projects", "rename", nonsense, "x"]):
        assert hosted.refused(*arguments, code=1) == "Text must be valid Unicode"


def test_keys(hosted: "Installation") -> None:
    done = hosted.run("keys", "create", "--name=for the crawler", "--scope=write", "--project=default")
    key = done.stdout.strip()
    assert done.stderr == "Scope write, project default. Keep it: it is not shown again.\n"
    made = hosted.json("keys", "create", "--scope=admin")
    assert made["key"].startswith(f"wh_{made['prefix']}_")
    assert made["project_id"] is None

    listed = hosted.json("keys", "list")
    assert [(one["name"], one["scope"]) for one in listed] == [("for the crawler", "write"), ("", "admin")]
    assert listed[0]["project_id"] == str(DEFAULT_PROJECT_ID)
    table = hosted.run("keys", "list").stdout
    assert f"wh_{made['prefix']}_…" in table
    for secret in (key, made["key"]):
        assert secret not in table
        assert secret.split("_", 2)[2] not in json.dumps(listed)

    assert hosted.run("keys", "revoke", key).stdout == f"Revoked {listed[0]['prefix']}.\n"
    assert hosted.json("keys", "revoke", made["id"]) == {"revoked": made["id"]}
    assert "revoked 20" in hosted.run("keys", "list").stdout
    assert hosted.refused("keys", "revoke", key, code=1) == f"There is no active key '{listed[0]['prefix']}'"


def test_what_keys_refuses(hosted: "Installation") -> None:
    assert "no project named 'none'" in hosted.refused("keys", "create", "--project=none", code=1)
    assert "'owner' is not one of" in hosted.run("keys", "create", "--scope=owner", code=2).stderr
    assert not hosted.json("keys", "list")


def test_db(fresh: "Installation", empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn) as conn:
        info = conn.info
        url = f"postgresql:///{info.dbname}?host={info.host}&port={info.port}&user={info.user}"
    fresh.env["WHENCE_DATABASE_URL"] = url
    assert fresh.json("db", "status")["state"] == "empty"
    assert "has no schema yet; `whence db upgrade` creates it." in fresh.run("db", "status").stdout
    assert fresh.json("db", "upgrade")["state"] == "current"
    assert "which is current." in fresh.run("db", "upgrade").stdout

    with psycopg.connect(empty_dsn) as conn:
        conn.execute("UPDATE kb.alembic_version SET version_num = '9999'")
    assert "newer than this version knows" in fresh.run("db", "status").stdout
    for command in (("serve", "--port=0"), ("db", "upgrade"), ("projects", "list")):
        message = fresh.refused(*command)
        assert "The database is at schema 9999, which is newer" in message
        assert "Upgrade Whence" in message
    doctor = fresh.run("doctor", code=1)
    assert "✗ Database:" in doctor.stdout
    assert "schema newer" in doctor.stdout


def test_interrupted(hosted: "Installation", dsn: str, wait_for: "WaitFor") -> None:
    """Ctrl-C while a command waits for the database."""
    with psycopg.connect(dsn) as conn:
        conn.execute("LOCK TABLE kb.projects IN ACCESS EXCLUSIVE MODE")
        command = hosted.start("projects", "list")

        def waiting() -> bool:
            found = conn.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone()
            return found is not None and found[0] > 0

        wait_for(waiting, "the command to wait")
        command.send_signal(signal.SIGINT)
        _, said = command.communicate()
    assert command.returncode == 130
    assert said.strip() == "Aborted."


USUAL_CONTEXT = (
    "positionalCount 1, semanticChunkCount 3, relatedObjectCount 10, objectSimilarityThreshold 0.7"
)


def test_what_is_chosen_for_a_project_is_set_and_shown(hosted: "Installation") -> None:
    made = hosted.json("projects", "create", "Manuals")
    assert hosted.run("projects", "show", "Manuals").stdout.splitlines() == [
        f"Manuals  {made['id']}",
        "description",
        "language    english (by default)",
        "extraction  manual (by default)",
        "extractor   rules (by default)",
        f"context     {USUAL_CONTEXT} (by default)",
        "grounding   strict (by default)",
        "chunking    paragraph by commands, character over HTTP (by default)",
    ]
    changed = hosted.run("projects", "set", "Manuals", "--extraction=auto", "--description=of machines")
    assert changed.stdout == f"Changed project Manuals ({made['id']}).\n"
    hosted.run("projects", "set", made["id"], "--language=german", "--extractor=rules", "--grounding=lenient")
    shown = hosted.json("projects", "show", "Manuals")
    chosen = {
        "extraction": "auto",
        "lightragKey": None,
        "lightragUrl": None,
        "extractor": "rules",
        "context": None,
        "chunking": None,
        "verify": None,
        "citationStyle": None,
        "footnotes": None,
        "grounding": "lenient",
        "media": None,
    }
    assert shown["config"] == chosen
    assert shown["language"] == "german"
    assert shown["description"] == "of machines"
    reset = ("--extraction=default", "--grounding=default", "--description=")
    back = hosted.json("projects", "set", "Manuals", *reset)
    assert back["config"] == {
        "extraction": None,
        "lightragKey": None,
        "lightragUrl": None,
        "extractor": "rules",
        "context": None,
        "chunking": None,
        "verify": None,
        "citationStyle": None,
        "footnotes": None,
        "grounding": None,
        "media": None,
    }
    assert back["description"] is None
    assert "extraction  manual (by default)" in hosted.run("projects", "show", "Manuals").stdout
    near = ("--context=objectSimilarityThreshold=0.5", "--context=positionalCount=2")
    assert hosted.json("projects", "set", "Manuals", *near)["config"]["context"] == {
        "objectSimilarityThreshold": 0.5,
        "positionalCount": 2,
        "relatedObjectCount": None,
        "semanticChunkCount": None,
    }
    hosted.run("projects", "set", "Manuals", "--context=positionalCount=default")
    assert (
        f"context     {USUAL_CONTEXT.replace('0.7', '0.5')}\n"
        in hosted.run("projects", "show", "Manuals").stdout
    )
    assert hosted.json("projects", "set", "Manuals", "--context=default")["config"]["context"] is None


def test_what_is_set_must_be_known(hosted: "Installation") -> None:
    assert "Nothing to change" in hosted.run("projects", "set", "default", code=2).stderr
    assert (
        "'often' is not one of"
        in hosted.run("projects", "set", "default", "--extraction=often", code=2).stderr
    )
    refused = hosted.refused("projects", "set", "default", "--extraction=auto", "--language=klingon", code=1)
    assert refused.startswith("language must be one of ")
    for wrong in ("near=1", "positionalCount=many", "positionalCount=11", "objectSimilarityThreshold=7"):
        hosted.refused("projects", "set", "default", f"--context={wrong}", code=1)
    config = hosted.json("projects", "show", "default")["config"]
    assert config == {
        "extraction": None,
        "lightragKey": None,
        "lightragUrl": None,
        "extractor": None,
        "context": None,
        "chunking": None,
        "verify": None,
        "citationStyle": None,
        "footnotes": None,
        "grounding": None,
        "media": None,
    }


def test_how_a_project_cuts(hosted: "Installation", tmp_path: Path) -> None:
    """Commands cut by paragraph, unless the project has a default or the command says otherwise."""
    hosted.env["WHENCE_EMBEDDER"] = "hash"

    def cut(name: str, *options: str) -> str:
        (tmp_path / name).write_text(f"{name}. " * 100)
        hosted.run("ingest", str(tmp_path / name), *options)
        chunking = hosted.json("documents", "show", name)["chunking"]
        return f"{chunking['strategy']} {chunking['max_chunk_size']}"

    assert cut("a.txt") == "paragraph 1200"
    hosted.run("projects", "set", "default", "--strategy", "sentence", "--max", "300")
    assert (
        "chunking    sentence, at most 300 characters\n" in hosted.run("projects", "show", "default").stdout
    )
    assert (cut("b.txt"), cut("c.txt", "--strategy", "character")) == ("sentence 300", "character 300")
    hosted.run("projects", "set", "default", "--strategy", "default")
    assert cut("d.txt") == "paragraph 1200"
    assert cut("b.txt") == "sentence 300", "as it was cut before"
    hosted.run("projects", "create", "other", "--strategy", "sentence")
    assert hosted.json("projects", "show", "other")["config"]["chunking"]["strategy"] == "sentence"
    for wrong in (["--max", "300"], ["--strategy", "haiku"], ["--strategy", "sentence", "--max", "5"]):
        hosted.run("projects", "set", "default", *wrong, code=2)
