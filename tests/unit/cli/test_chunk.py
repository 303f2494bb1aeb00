import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.distributions import offer_strategy
from tests.files.pdf import pdf
from tests.texts import MARKDOWN

from whence.cli.chunk import chunk
from whence.errors import StrategyError, UnreadableDocument


def run(*arguments: str, text: str | bytes = MARKDOWN) -> Result:
    return CliRunner().invoke(chunk, ["-", *arguments], input=text)


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "document.md"
    path.write_text("# Title\n\nFirst part. [not] bold.\n\n## Next\n\nSecond part.\n", encoding="utf-8")
    return path


def test_boundaries_are_shown(document: Path) -> None:
    result = CliRunner().invoke(chunk, [str(document), "--strategy", "paragraph"])
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "──┤ 0 · section · 0-32, 32 characters · Title ├──",
        "# Title",
        "",
        "First part. [not] bold.",
        "──┤ 1 · section · 34-55, 21 characters · Title > Next ├──",
        "## Next",
        "",
        "Second part.",
        "paragraph: 2 chunks of 21 to 32 characters (median 26.5), 100% of the cuts at a sentence's end",
    ]


def test_json_is_the_preview() -> None:
    result = run("--strategy", "sentence", "--max", "300", "--min", "20", "--json")
    shown = json.loads(result.output)
    assert shown["chunkingStrategy"] == "sentence"
    assert shown["chunkingOptions"] == {"maxChunkSize": 300, "minChunkSize": 20}
    assert all(MARKDOWN[one["startOffset"] : one["endOffset"]] == one["text"] for one in shown["chunks"])
    assert shown["summary"]["count"] == len(shown["chunks"])


FOREIGN = """
    class Strategy:
        name = "broken"

        def chunk(self, text, options):
            return 1 / 0
"""


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    offer_strategy(tmp_path, name="broken", value="offered_to_command:Strategy", source=FOREIGN)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "The chunking strategy 'broken' failed with ZeroDivisionError"


def test_a_strategy_that_fails_is_named(broken: str) -> None:
    with pytest.raises(StrategyError, match=broken):
        CliRunner().invoke(chunk, ["-", "--strategy", "broken"], input=MARKDOWN, catch_exceptions=False)


@pytest.mark.parametrize(("text", "message"), [(" \n", "nothing but white space"), ("", "The file is empty")])
def test_nothing_to_chunk_is_refused_as_by_ingest(text: str, message: str) -> None:
    with pytest.raises(UnreadableDocument, match=message):
        CliRunner().invoke(chunk, ["-"], input=text, catch_exceptions=False)


def test_one_chunk_is_no_plural() -> None:
    assert run(text="One.").output.splitlines()[-1] == "paragraph: 1 chunk of 4 to 4 characters (median 4)"


def test_a_byte_order_mark_is_no_text() -> None:
    shown = json.loads(run("--json", text=b"\xef\xbb\xbfhello").output)
    assert shown["chunks"][0]["text"] == "hello"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--max", "50"], "--max must be an integer from 100 to 10000, not 50"),
        (["--min", "5"], "--min must be an integer from 10 to 1000, not 5"),
        (["--max", "100", "--min", "100"], "--min must be less than --max (100), not 100"),
        (["--strategy", "x"], "--strategy must be one of character, sentence, paragraph"),
    ],
)
def test_wrong_options_are_explained(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_a_file_of_any_kind_that_can_be_ingested(tmp_path: Path) -> None:
    path = tmp_path / "birds.pdf"
    path.write_bytes(pdf([["One page tells of herons."], ["Another tells of storks."]]))
    result = CliRunner().invoke(chunk, [str(path), "--json"])
    assert result.exit_code == 0, result.output
    assert "storks" in result.output


def test_a_missing_file_is_named() -> None:
    result = CliRunner().invoke(chunk, ["nowhere.md"])
    assert result.exit_code == 2
    assert "nowhere.md" in result.output
