"""`whence ask`: answers with footnotes, with a server and without; and the demo."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.chat_endpoint import ChatEndpoint, cut, says

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation

ROOT = Path(__file__).parents[2]
LEAVE = "Everyone has thirty days of leave in a year. Days that are left at the end of March are lost."
UNKNOWN = "dead0000-7c3d-7e4f-8a5b-000000000009"
QUESTION = "How many days of leave does everyone have?"


@pytest.fixture
def stocked(hosted: "Installation", tmp_path: Path) -> "Installation":
    hosted.env["WHENCE_EMBEDDER"] = "hash"
    (tmp_path / "leave.md").write_text(LEAVE)
    hosted.run("ingest", str(tmp_path / "leave.md"))
    return hosted


def test_an_answer_has_footnotes_with_file_and_quote(stocked: "Installation") -> None:
    said = stocked.run("ask", QUESTION).stdout
    assert said.startswith("Everyone has thirty days of leave in a year. [1]")
    assert "\n[1] leave.md\n    “Everyone has thirty days of leave in a year.” (verbatim)\n" in said
    assert said.endswith("\nAnswered by extractive.\n")
    assert stocked.run("ask", QUESTION, "--no-stream").stdout == said


def test_footnotes_are_letters_where_the_documents_have_numbers(
    stocked: "Installation", tmp_path: Path
) -> None:
    (tmp_path / "ferry.md").write_text("The ferry was built in Bergen [2] and sold in 1990 [3].")
    stocked.run("ingest", str(tmp_path / "ferry.md"))
    said = stocked.run("ask", "Where was the ferry built?").stdout
    assert said.startswith("The ferry was built in Bergen [2] and sold in 1990 [3]. [a]\n")
    assert "\n[a] ferry.md\n" in said


def test_footnotes_below_are_those_in_the_answer_wherever_numbers_of_the_documents_come(
    stocked: "Installation", tmp_path: Path
) -> None:
    (tmp_path / "ferry.md").write_text("The ferry was built in Bergen [2] and sold in 1990 [3].")
    stocked.run("ingest", str(tmp_path / "ferry.md"))
    answer = 'The ferry was built in Bergen [1]. It says "built in Bergen ⁅2⁆ and sold" [1].'
    with ChatEndpoint(says(answer)) as model:
        stocked.env |= {"WHENCE_LLM_BASE_URL": model.url, "WHENCE_LLM_MODEL": "test"}
        said = stocked.run("ask", "Where was the ferry built?").stdout
        assert said.startswith(
            'The ferry was built in Bergen [a]. It says "built in Bergen [2] and sold" [a].\n\n[a] ferry.md\n'
        )
        assert stocked.run("ask", "Where was the ferry built?", "--no-stream").stdout == said


def test_ungrounded_values_are_used_only_if_asked_for(stocked: "Installation", tmp_path: Path) -> None:
    invented = {"type": "Place", "name": "Westport", "population": "48,211"}
    with ChatEndpoint(says(json.dumps({"objects": [invented]}))) as model:
        stocked.env |= {"WHENCE_LLM_BASE_URL": model.url, "WHENCE_LLM_MODEL": "test"}
        stocked.run("projects", "set", "default", "--grounding=lenient")
        (tmp_path / "town.md").write_text("Westport lies on a river.")
        stocked.run("ingest", str(tmp_path / "town.md"))
        stocked.run("extract")
        for more, is_used in (((), False), (("--include-ungrounded",), True)):
            stocked.run("ask", "How many people live in Westport?", *more)
            assert ("48,211" in str(model.prompts[-1])) == is_used


def test_a_running_server_is_no_hindrance(stocked: "Installation") -> None:
    before = stocked.run("ask", QUESTION).stdout
    serving = stocked.serve().ready()
    assert stocked.run("ask", QUESTION).stdout == before
    assert serving.end() == 0


def test_json_is_what_the_server_answers(stocked: "Installation") -> None:
    told = stocked.json("ask", QUESTION)
    assert told["sources"][0]["source"] == "leave.md"
    assert f"[{told['sources'][0]['id']}]" in told["response"]


def test_nothing_found_is_said(stocked: "Installation") -> None:
    said = stocked.run("ask", "synthesis of melatonin").stdout
    assert said.startswith("I found nothing about this in the documents.\n")


def test_a_model_streams_and_what_it_makes_up_is_marked(stocked: "Installation") -> None:
    with ChatEndpoint(says("You have thirty days of leave in a year [1]. Dogs may come along [1].")) as model:
        stocked.env |= {"WHENCE_LLM_BASE_URL": model.url, "WHENCE_LLM_MODEL": "test"}
        said = stocked.run("ask", QUESTION).stdout
        assert said.startswith("You have thirty days of leave in a year [1]. Dogs may come along [1].\n")
        assert "[!] Not supported by what it cites (none): Dogs may come along [1]." in said
        assert "[!] Not supported by what it cites (loose): You have thirty days" in said
        assert re.search(r"Answered by test-1 \(\d+ and 15 tokens\)\.\n\Z", said)
        model.default = says("Cats may come along as well.")
        said = stocked.run("ask", QUESTION).stdout
        assert "[!] No source: Cats may come along as well.\n" in said
        model.default = says("Everyone has thirty days of leave in a year.")
        said = stocked.run("ask", QUESTION).stdout
        sentence = "Everyone has thirty days of leave in a year."
        found = f"[+] No citation in the answer, but a source supports it: {sentence}\nleave.md\n    “{sentence}” (verbatim)\n"
        assert found in said
        assert "[!]" not in said


def test_all_that_a_model_said_before_it_failed_is_printed(stocked: "Installation") -> None:
    with ChatEndpoint(cut(after=5, text="There are thirty days ( in all")) as model:
        stocked.env |= {"WHENCE_LLM_BASE_URL": model.url, "WHENCE_LLM_MODEL": "test"}
        failed = stocked.run("ask", QUESTION, code=1, env={"WHENCE_LLM_ATTEMPTS": "1"})
        assert failed.stdout == "There are thirty days (\n"
        assert "broke off" in failed.stderr
        model.default = cut(after=0)
        failed = stocked.run("ask", QUESTION, code=1, env={"WHENCE_LLM_ATTEMPTS": "1"})
        assert failed.stdout == ""


def test_only_what_cites_becomes_a_footnote(stocked: "Installation") -> None:
    chunk = stocked.json("ask", QUESTION)["sources"][0]["id"]
    code = f"```\nkeys = [{chunk}] [{UNKNOWN}]\n```"
    with ChatEndpoint(
        says(f"There are thirty days of leave [1].\n\n{code}\n\nSo `[{chunk}]` it is [1].")
    ) as model:
        stocked.env |= {"WHENCE_LLM_BASE_URL": model.url, "WHENCE_LLM_MODEL": "test"}
        said = stocked.run("ask", QUESTION).stdout
        assert said.startswith(
            f"There are thirty days of leave [1].\n\n{code}\n\nSo `[{chunk}]` it is [1].\n\n[1] leave.md"
        )
        assert stocked.run("ask", QUESTION, "--no-stream").stdout == said


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((" ",), 2),
        (("x", "--limit", "0"), 2),
        (("x" * 20_000,), 2),
        (("x", "--project", "nowhere"), 1),
        (("x", "--evidence", "nowhere/x.html"), 2),
    ],
)
def test_what_is_wrong_is_said(hosted: "Installation", arguments: tuple[str, ...], code: int) -> None:
    hosted.env["WHENCE_EMBEDDER"] = "hash"
    assert hosted.run("ask", *arguments, code=code).stderr


def test_the_demo_asks_and_writes_an_evidence_file(fresh: "Installation", tmp_path: Path) -> None:
    environment = fresh.environment({})
    done = subprocess.run(
        [sys.executable, "examples/ask.py"],
        cwd=ROOT,
        env={**os.environ, **environment, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.count("$ whence ask") == 4
    assert done.stdout.count("Answered by extractive.") == 4
    assert len(re.findall(r"^\[1\] \w+\.md", done.stdout, re.MULTILINE)) == 2
    assert done.stdout.count("I found nothing about this in the documents.") == 1
    written = re.search(r"^Open (\S+): ", done.stdout.splitlines()[-1])
    assert written
    assert '<svg class="crop"' in Path(written[1]).read_text(encoding="utf-8")
    assert not fresh.data_dir.exists()


def test_stored_answers_grow_stale_are_asked_again_and_become_questions(
    stocked: "Installation", tmp_path: Path
) -> None:
    stored = json.loads(stocked.run("ask", QUESTION, "--store", "--json").stdout)
    answer = stored["answerId"]
    followed = stocked.run(
        "ask", "And when are they lost?", "--conversation", stored["conversationId"]
    ).stdout
    assert f"in conversation {stored['conversationId']}." in followed
    assert json.loads(stocked.run("answers", "stale", "--json").stdout) == []
    (tmp_path / "leave.md").write_text(LEAVE.replace("thirty", "twenty"))
    stocked.run("ingest", str(tmp_path / "leave.md"))
    assert f"{answer}  " in stocked.run("answers", "stale").stdout
    shown = stocked.run("answers", "show", answer).stdout
    assert "\n- Everyone has thirty days of leave in a year.\n+ Everyone has twenty days" in shown
    again = stocked.run("answers", "refresh", answer).stdout
    assert "\n- Everyone has thirty days of leave in a year.\n+ Everyone has twenty days" in again
    assert answer in stocked.run("answers", "list").stdout
    assert answer not in stocked.run("answers", "stale").stdout
    failed = stocked.run("eval", str(tmp_path / "q.jsonl"), "--feedback", code=1)
    assert "no answer with feedback" in failed.stderr
