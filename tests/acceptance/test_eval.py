"""`whence eval`: measures a project with questions, compares runs, and drafts questions."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.chat_endpoint import ChatEndpoint, Messages, says
from tests.loopback import status

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation

ROOT = Path(__file__).parents[2]
QUESTIONS: list[dict[str, Any]] = [
    {
        "question": "When does the office open and close?",
        "document": "sign_in.pdf",
        "page": 2,
        "text": "opens at nine",
        "answer": "The office opens at nine and closes at five.",
    },
    {
        "question": "How many items may a reader have at home?",
        "document": "reading_rooms.md",
        "text": "ten items at home",
        "answer": "ten items",
    },
    {"question": "How long are nightly backups kept?", "answerable": False},
]


@pytest.fixture
def stocked(hosted: "Installation") -> "Installation":
    hosted.env["WHENCE_EMBEDDER"] = "hash"
    hosted.run(
        "ingest",
        str(ROOT / "examples/documents"),
        str(ROOT / "examples/graph/sign_in.pdf"),
        "--strategy=character",
    )
    return hosted


def written(folder: Path, *questions: dict[str, Any]) -> str:
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in questions))
    return str(path)


def table(said: str) -> dict[str, str]:
    rows = (line.rsplit("  ", 1) for line in said.splitlines() if "  " in line)
    return {label.strip(): value.strip() for label, value in rows}


def test_search_and_answers_are_measured_and_runs_compared(stocked: "Installation", tmp_path: Path) -> None:
    questions = written(tmp_path, *QUESTIONS)
    said = stocked.run("eval", questions).stdout
    assert said.startswith(
        "default: 3 questions, 1 of them unanswerable; hybrid, k 5; answered by extractive\n"
    )
    shown = table(said)
    assert (shown["recall@5"], shown["hit rate@5"], shown["cites the expected"]) == ("100.0%",) * 3
    assert (shown["false empties"], shown["false finds"], shown["false answers"]) == ("0", "1", "1")
    assert (shown["citation validity"], shown["answer words found"]) == ("100.0%", "100.0%")
    assert int(shown["support: verbatim"]) >= 2
    assert "\n3     answered  How long are nightly backups kept?\n" in said

    told = stocked.json("eval", questions, "--k", "1", "--mode", "text", "--no-answers", "--limit", "2")
    assert (told["k"], told["mode"], told["answerer"]) == (1, "text", None)
    assert [one["rank"] for one in told["results"]] == [1, 1]
    assert told["totals"]["recall"] == told["totals"]["hitRate"] == 1
    assert told["totals"]["unanswered"] is None

    earlier = tmp_path / "earlier.json"
    earlier.write_text(json.dumps(told))
    wrong = {**QUESTIONS[1], "document": "sign_in.pdf"}
    questions = written(tmp_path, QUESTIONS[0], wrong, QUESTIONS[2])
    compared = stocked.run("eval", questions, "--no-answers", "--compare", str(earlier))
    assert "The earlier run had text, k 1, no answers." in compared.stderr
    assert "hit rate@5" in compared.stdout
    assert "-50.0 points" in compared.stdout
    assert "rank 1 → none" in compared.stdout
    assert "How long are nightly backups kept?" in compared.stdout
    differences = stocked.json("eval", questions, "--no-answers", "--compare", str(earlier))["comparison"]
    assert differences["totals"]["hitRate"] == {"before": 1.0, "after": 0.5}
    assert differences["questions"][0]["changes"]["rank"] == {"before": 1, "after": None}
    assert differences["added"] == ["How long are nightly backups kept?"]


def test_a_model_is_measured_with_its_cost_and_its_inventions(
    stocked: "Installation", tmp_path: Path
) -> None:
    def answer(messages: Messages) -> str:
        if "office" in messages[-1]["content"].rpartition("Question:")[2]:
            return "The office opens at nine and closes at five [1]. Dogs may come along [99]."
        return "A reader may have ten items at home at a time [1]."

    questions = written(tmp_path, *QUESTIONS)
    with ChatEndpoint(says(answer)) as model:
        stocked.env |= {"WHENCE_LLM_BASE_URL": model.url, "WHENCE_LLM_MODEL": "test"}
        stocked.env |= {"WHENCE_LLM_PROMPT_PRICE": "2", "WHENCE_LLM_COMPLETION_PRICE": "10"}
        totals = stocked.json("eval", questions)["totals"]
        assert (totals["citations"], round(totals["citationValidity"], 3)) == (4, 0.75)
        assert (totals["support"]["verbatim"], totals["support"]["uncited"]) == (2, 1)
        assert (totals["support"]["loose"] + totals["support"]["none"], totals["falseAnswers"]) == (1, 1)
        assert totals["completionTokens"] == 15 + 2 * 12
        price = (2 * totals["promptTokens"] + 10 * totals["completionTokens"]) / 1_000_000
        assert totals["price"] == pytest.approx(price)
        assert table(stocked.run("eval", questions).stdout)["price"] == f"{price:.6f}"

        model.script(says(answer), *[status(400, message="no")] * 9)
        failed = stocked.run("eval", questions, code=1)
        assert table(failed.stdout)["failed"] == "2"
        assert "PROBLEM" in failed.stdout
        model.script(*[status(400, message="no")] * 9)
        failed = stocked.run("eval", questions, code=1)
        assert failed.stdout == ""
        assert failed.stderr.startswith("whence: ")


def test_questions_are_drafted_from_headings(stocked: "Installation", tmp_path: Path) -> None:
    path = tmp_path / "drafts.jsonl"
    made = stocked.run("eval", str(path), "--make", "6").stdout
    assert made == f"6 questions in {path}. Read them before you rely on them.\n"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert {line["document"] for line in lines} == {
        "quarterly_report_2024.md",
        "reading_rooms.md",
        "sign_in.pdf",
    }
    assert {line["page"] for line in lines if line["document"] == "sign_in.pdf"} == {1, 2}
    totals = stocked.json("eval", str(path), "--no-answers")["totals"]
    assert (totals["questions"], totals["recall"]) == (6, 1)
    assert "exists already" in stocked.run("eval", "--make", "6", str(path), code=2).stderr
    printed = stocked.run("eval", "-", "--make", "40")
    assert len(printed.stdout.splitlines()) == 11
    assert printed.stderr == "11 of 40 questions: the documents yielded no more.\n"


def test_questions_are_drafted_by_a_model_in_bounded_calls(stocked: "Installation", tmp_path: Path) -> None:
    def draft(messages: Messages) -> str:
        quote = "The office opens\nat nine" if "opens at nine" in messages[-1]["content"] else "invented"
        return json.dumps({"question": "When does the office open?", "answer": "at nine", "quote": quote})

    path = tmp_path / "drafts.jsonl"
    with ChatEndpoint(says(draft)) as model:
        stocked.env |= {"WHENCE_LLM_BASE_URL": model.url, "WHENCE_LLM_MODEL": "test"}
        made = stocked.run("eval", str(path), "--make", "2")
        assert made.stdout.startswith("2 questions in ")
        assert (
            "of the model had a question, an answer and a quote from the passage; 1 of 2 questions"
            in made.stderr
        )
        assert len(model.requests) <= 4
        model.default = status(400, message="no")
        assert stocked.refused("eval", str(tmp_path / "none.jsonl"), "--make", "2", code=1)
    assert not (tmp_path / "none.jsonl").exists()
    line, other = map(json.loads, path.read_text().splitlines())
    assert "answer" not in other or other["answer"] == other["text"], "from a heading or a definition"
    assert line == {
        "question": "When does the office open?",
        "document": "sign_in.pdf",
        "page": 2,
        "text": "The office opens at nine",
        "answer": "at nine",
    }


def test_a_useless_model_is_named_where_nothing_was_drafted(hosted: "Installation", tmp_path: Path) -> None:
    hosted.env["WHENCE_EMBEDDER"] = "hash"
    note, path = tmp_path / "note.txt", str(tmp_path / "drafts.jsonl")
    note.write_text("Bring the ladder back by Friday, please. Otto waits for it.")
    hosted.run("ingest", str(note))
    said = hosted.refused("eval", path, "--make", "2", code=1)
    assert "no headings or definitions" in said
    assert "WHENCE_LLM_BASE_URL" in said
    with ChatEndpoint(says("I would rather not.")) as model:
        hosted.env |= {"WHENCE_LLM_BASE_URL": model.url, "WHENCE_LLM_MODEL": "test"}
        said = hosted.refused("eval", path, "--make", "2", code=1)
    assert "none of 1 reply of the model had a question" in said
    assert "no document" not in said
    assert not Path(path).exists()


def test_what_is_wrong_is_said(stocked: "Installation", tmp_path: Path) -> None:
    questions = written(tmp_path, QUESTIONS[0], {"question": "a", "page": "two"}, {"question": "b"})
    said = stocked.run("eval", questions, code=1).stderr.splitlines()
    assert said[0] == f"whence: {questions} has 2 wrong lines:"
    assert said[1] == '  line 2, page: got "two", expected an integer from 1 to 1000000'
    assert said[2].startswith("  line 3, answerable: got true, expected false, or ")
    questions = written(tmp_path, {"question": "a", "document": "nowhere.md"})
    said = stocked.run("eval", questions, code=1).stderr.splitlines()
    assert (
        said[1]
        == '  line 1, document: got "nowhere.md", expected the name or id of a document of the project'
    )
    assert "is no report" in stocked.refused("eval", questions, "--compare", questions, code=1)
    assert stocked.run("eval", str(tmp_path / "missing.jsonl"), code=2).stderr
    assert stocked.run("eval", questions, "--k", "0", code=2).stderr
    assert stocked.refused("eval", questions, "--project", "nowhere", code=1)
    stocked.run("projects", "create", "empty")
    assert "no document" in stocked.refused("eval", "-", "--make", "3", "--project", "empty", code=1)
