"""`whence search`: the chunks that have to do with a question, with a server and without."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation

LEAVE = "Everyone has thirty days of leave in a year. Days that are left at the end of March are lost."
TRAVEL = "Travel by train is paid in second class. Flights need the consent of a manager."


@pytest.fixture
def stocked(hosted: "Installation", tmp_path: Path) -> "Installation":
    hosted.env["WHENCE_EMBEDDER"] = "hash"
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "leave.md").write_text(LEAVE)
    (folder / "travel.txt").write_text(TRAVEL)
    hosted.run("ingest", str(folder))
    return hosted


def found(installation: "Installation", *arguments: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads(installation.run("search", *arguments, "--json").stdout)["items"]
    return items


def test_a_question_is_answered_with_the_file_the_score_and_the_words(stocked: "Installation") -> None:
    first, passage, *_ = stocked.run("search", "how many days of leave").stdout.splitlines()
    name, score, ident = first.split()
    assert name == "leave.md"
    assert 0 < float(score) <= 1
    assert passage.strip() == LEAVE
    (hit, *_) = found(stocked, "how many days of leave")
    assert hit["chunk"]["id"] == ident
    words = {LEAVE[span["start"] : span["end"]] for span in hit["highlights"]}
    assert words == {"days", "leave", "Days"}


def test_a_running_server_is_no_hindrance(stocked: "Installation") -> None:
    before = found(stocked, "travel by train")
    serving = stocked.serve().ready()
    assert found(stocked, "travel by train") == before
    assert serving.end() == 0


def test_hits_far_weaker_than_the_best_are_left_out_unless_asked_for(stocked: "Installation") -> None:
    question = "how many days of leave"
    every = found(stocked, question)
    assert len(every) == 2
    assert every[1]["score"] < every[0]["score"] / 2
    said = stocked.run("search", question)
    assert [line for line in said.stdout.splitlines() if not line.startswith(" ")] == [
        f"leave.md  {every[0]['score']:.2f}  {every[0]['chunk']['id']}"
    ]
    assert said.stderr == "1 weaker hit left out; see --all.\n"
    for option in ("--all", "--no-floor"):
        shown = stocked.run("search", question, option)
        assert "travel.txt" in shown.stdout
        assert not shown.stderr


def test_options_narrow_what_is_found(stocked: "Installation") -> None:
    every = found(stocked, "days of travel", "--no-floor")
    assert {hit["document"]["name"] for hit in every} == {"leave.md", "travel.txt"}
    only = found(stocked, "days of travel", "--type", "txt", "--mode", "vector")
    assert {hit["document"]["name"] for hit in only} == {"travel.txt"}
    (document,) = {hit["document"]["id"] for hit in every if hit["document"]["name"] == "leave.md"}
    assert {hit["document"]["id"] for hit in found(stocked, "days", "--document", document)} == {document}
    assert len(found(stocked, "days of travel", "--limit", "1", "--no-floor")) == 1


def test_nothing_found_is_said(stocked: "Installation") -> None:
    said = stocked.run("search", "synthesis of melatonin in mammals", "--mode", "text")
    assert said.stdout == "Nothing found.\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((" ",), 2),
        (("x", "--limit", "0"), 2),
        (("x", "--limit", "101"), 2),
        (("x", "--mode", "semantic"), 2),
        (("x", "--document", "seven"), 2),
        (("x", "--project", "nowhere"), 1),
    ],
)
def test_what_is_wrong_is_said(hosted: "Installation", arguments: tuple[str, ...], code: int) -> None:
    hosted.env["WHENCE_EMBEDDER"] = "hash"
    assert hosted.run("search", *arguments, code=code).stderr
