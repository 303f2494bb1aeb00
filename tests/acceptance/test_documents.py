"""`whence documents`: what was ingested is listed, shown, described and taken back, with a server and without."""

import json
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from tests.graphs import say, thing, tie
from tests.oauth import tell
from tests.samples import AddSample

from whence.store import Store

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation

HOSTILE = "\x1b]0;title\x07\x1b[31mred\u202e\nline.pdf"


@pytest.fixture
def stocked(hosted: "Installation", tmp_path: Path) -> "Installation":
    hosted.env["WHENCE_EMBEDDER"] = "hash"
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "leave.md").write_text("Everyone has thirty days of leave in a year.")
    (folder / "travel.txt").write_text("Travel by train is paid in second class.")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    hosted.run("ingest", str(folder), "--meta", "team=people", code=1)
    return hosted


def names(installation: "Installation", *options: str) -> set[str]:
    return {one["name"] for one in installation.json("documents", "list", *options)}


def test_documents_are_listed_with_what_became_of_them(stocked: "Installation") -> None:
    assert names(stocked) == {"leave.md", "travel.txt", "broken.pdf"}
    assert names(stocked, "--status=failed") == {"broken.pdf"}
    failed = stocked.run("documents", "list", "--status=failed").stdout
    assert "REASON" in failed
    assert "broken.pdf  The document" in failed
    assert names(stocked, "--type=md", "--type", "application/pdf") == {"leave.md", "broken.pdf"}
    assert names(stocked, "--name=TRAV") == {"travel.txt"}
    head, line = stocked.run("documents", "list", "--type=.md").stdout.splitlines()
    assert head.split() == ["ID", "STATUS", "CHUNKS", "TYPE", "NAME"]
    (leave,) = stocked.json("documents", "list", "--name=leave.md")
    assert line.split() == [leave["id"], "completed", "1", "text/markdown", "leave.md"]
    assert stocked.run("documents", "list", "--limit=1").stderr == "1 of 3; see --limit.\n"
    stocked.run("projects", "create", "other")
    assert names(stocked, "--project=other") == set()


def test_one_document_is_shown_by_its_name_and_by_its_id(stocked: "Installation") -> None:
    told = stocked.json("documents", "show", "leave.md")
    assert (told["chunk_count"], told["metadata"]) == (1, {"team": "people"})
    title, *lines = stocked.run("documents", "show", told["id"]).stdout.splitlines()
    assert title == f"leave.md  {told['id']}"
    shown = dict(line.split(maxsplit=1) for line in lines)
    assert shown["type"] == "text/markdown, 44 bytes"
    assert shown["status"] == "completed"
    assert shown["chunks"] == "1, cut by paragraph, at most 1200 characters"
    assert shown["origin"] == told["origin"]
    assert json.loads(shown["metadata"]) == {"team": "people"}
    failed = stocked.run("documents", "show", "broken.pdf").stdout
    assert "status    failed: " in failed


def test_something_is_said_of_documents_that_are_there(stocked: "Installation") -> None:
    said = stocked.run("documents", "describe", "leave.md", "travel.txt", "--meta", "year=2026").stdout
    assert said.splitlines() == [
        f'{name}: {{"team": "people", "year": 2026}}' for name in ("leave.md", "travel.txt")
    ]
    (told,) = stocked.json("documents", "describe", "leave.md", "--meta", "team=null")
    assert told["metadata"] == {"year": 2026}
    assert "--meta" in stocked.run("documents", "describe", "leave.md", code=2).stderr
    long = stocked.refused("documents", "describe", "leave.md", "--meta", f"x={'y' * 20_000}", code=1)
    assert long == "metadata must be at most 16384 bytes of JSON"


def test_deleting_says_what_goes_along_and_asks(stocked: "Installation") -> None:
    asked = stocked.run("documents", "delete", "leave.md", "travel.txt", stdin="n\n", code=1)
    first, second, question = asked.stderr.splitlines()[:3]
    assert first.startswith("leave.md (")
    assert first.endswith("): 1 chunk")
    assert second.startswith("travel.txt (")
    assert question.startswith("Delete 2 documents? [y/N]: ")
    assert not asked.stdout
    assert len(names(stocked)) == 3

    would = stocked.run("documents", "delete", "leave.md", "--dry-run").stdout
    assert would.startswith("Would delete leave.md (")
    done = stocked.run("documents", "delete", "leave.md", "leave.md", stdin="y\n").stdout
    assert done == f"Deleted {first}\n"
    assert names(stocked) == {"travel.txt", "broken.pdf"}
    (gone,) = stocked.json("documents", "delete", "broken.pdf", "--yes")
    assert (gone["name"], gone["chunks"]) == ("broken.pdf", 0)


def test_documents_are_chosen_for_deletion(stocked: "Installation") -> None:
    folder = stocked.folder / "more"
    for name in ("old/a.txt", "old/b/c.md", "older.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    stocked.run("ingest", str(folder))
    every = names(stocked)
    for options, chosen in (
        (["--glob=*.md"], {"leave.md", "old/b/c.md"}),
        (["--glob=[lt]*"], {"leave.md", "travel.txt"}),
        (["--folder=old", "--type=md"], {"old/b/c.md"}),
        (["--status=failed"], {"broken.pdf"}),
        (["--meta=team=people", "--glob=*.txt"], {"travel.txt"}),
    ):
        would = stocked.json("documents", "delete", *options, "--dry-run")
        assert {one["name"] for one in would} == chosen
    assert names(stocked) == every
    stocked.run("documents", "delete", "--folder=old/", "--yes")
    assert names(stocked) == every - {"old/a.txt", "old/b/c.md"}


def test_what_is_no_choice_for_deletion(stocked: "Installation") -> None:
    for arguments in ([], ["leave.md", "--glob=*"]):
        said = stocked.run("documents", "delete", *arguments, "--yes", code=2).stderr
        assert "Give documents, or options that select them" in said
    assert stocked.refused("documents", "delete", "--glob=none", code=1) == "No document matches"
    assert stocked.run("documents", "delete", "--glob=none", "--yes").stdout == "No document matches.\n"


def test_none_is_deleted_where_one_is_not_there(stocked: "Installation") -> None:
    absent = str(uuid4())
    assert stocked.refused("documents", "delete", "leave.md", absent, "--yes", code=1) == "Document not found"
    message = stocked.refused("documents", "delete", "leave.md", "none.md", "--yes", code=1)
    assert message == "There is no document named 'none.md'"
    assert "leave.md" in names(stocked)


async def test_a_deletion_tells_what_it_takes_out_of_the_graph(hosted: "Installation", store: Store) -> None:
    await tell(store)
    said = hosted.run("documents", "delete", "spec.pdf", "--yes").stdout
    assert said.endswith("): 4 chunks, 2 objects, 1 relationship\n")
    assert hosted.json("objects", "list") == []


async def test_a_deletion_tells_what_will_have_other_values(
    hosted: "Installation", store: Store, add_sample: AddSample
) -> None:
    for name, year in (("old.pdf", 2019), ("new.pdf", 2024)):
        said = (thing("A", color=str(year), size=year), thing("B"))
        chunk = (await add_sample(name=name)).chunks[0]
        await say(store, chunk, *said, ties=[tie("A", "owns", "B", since=year)])
    told = hosted.run("documents", "delete", "new.pdf", "--dry-run").stdout
    assert told.endswith("): 3 chunks, 2 changed properties, 1 changed property of a relationship\n")


async def test_names_are_told_apart_by_ids_and_say_nothing_to_the_terminal(
    hosted: "Installation", add_sample: AddSample
) -> None:
    twins = [(await add_sample(name="a.pdf")).document.id for _ in range(2)]
    message = hosted.refused("documents", "show", "a.pdf", code=1)
    assert message == (
        f"Several documents are named 'a.pdf'; give the id of one: {', '.join(map(str, twins))}"
    )
    await add_sample(name=HOSTILE)
    for command in (("list",), ("show", HOSTILE), ("delete", HOSTILE, "--yes")):
        hosted.run("documents", *command)


def test_a_running_server_is_no_hindrance(stocked: "Installation") -> None:
    serving = stocked.serve().ready()
    (leave,) = stocked.json("documents", "list", "--name=leave")
    stocked.run("documents", "delete", leave["id"], "--yes")
    assert serving.get(f"/api/v1/documents/{leave['id']}").status_code == 404
    assert serving.end() == 0
